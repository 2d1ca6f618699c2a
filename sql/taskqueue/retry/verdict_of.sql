-- RETRIES.md. The planner inlines it.
create or replace function taskqueue.verdict_of(
  p_setup text, p_failure taskqueue.failure, p_now timestamptz, p_rules taskqueue.retry_rule[] default null
) returns setof taskqueue.verdict
language sql stable rows 1 as $$
  select taskqueue.shown_retry_rule(d.rule),
         (select taskqueue.shown_retry_rule(p.rule)
            from taskqueue.rules_among(p_setup, p_rules) p
           where (p.rule).passive and p.position < coalesce(d.position::bigint, 2147483648)
             and taskqueue.retry_obstacle(p.rule, p_failure) is null
           order by p.position limit 1),
         case (d.rule).decision when 'retry' then p_now when 'later' then p_now + (d.rule).delay end,
         p_failure.failures, (d.rule).memory_factor, (d.rule).time_factor, (d.rule).elsewhere, (d.rule).less_input
    from (values (p_setup)) o (setup)
    left join lateral (
           select r.rule, r.position from taskqueue.rules_among(o.setup, p_rules) r
            where not (r.rule).passive and taskqueue.retry_obstacle(r.rule, p_failure) is null
            order by r.position limit 1) d on true
$$;

comment on function taskqueue.verdict_of(text, taskqueue.failure, timestamptz, taskqueue.retry_rule[]) is
  'The verdict of the retry rules of a setup, or of the given rules, on a failed end at a time: the first rule by '
  'position that fits and is not passive, and the first passive rule that fits and comes before it.';
