-- Rules that look at the task alone are applied before any queue is considered. The first rule that rejects the task
-- throttles it or makes it fail. $1 are task facts.
create or replace function brokerage.compose_task_rules(p_rules brokerage.profile_rule[], p_algorithm text) returns text
language plpgsql stable as $$
declare
  v_rule brokerage.profile_rule;
  v_calls text[] := '{}'::text[];
begin
  for v_rule in
    select r.* from unnest(p_rules) r
     where r.algorithm = p_algorithm and r.enabled and r.kind = 'task rule'
     order by r.position, r.rule
  loop
    if coalesce(v_rule.parameters ->> 'status', '') not in ('throttled', 'failed', 'pending') then
      raise exception 'rule % of profile %: parameter status is %', v_rule.rule, v_rule.profile,
        coalesce(v_rule.parameters ->> 'status', 'missing')
        using errcode = 'PB001',
              hint = 'Name the status of the task: {"status": "throttled"}, {"status": "failed"} or '
                     '{"status": "pending"}.';
    end if;
    v_calls := v_calls || format('%L || %s', concat_ws(E'\t', v_rule.parameters ->> 'status', v_rule.rule, ''),
                                 brokerage.rule_call(v_rule, 't'));
  end loop;
  return format(
    'select s.task_id, split_part(s.said, %2$L, 1), split_part(s.said, %2$L, 2), split_part(s.said, %2$L, 3)'
    ' from (select t.task_id, coalesce(%1$s) as said from unnest($1) t) s where s.said is not null',
    array_to_string(v_calls || 'null::text'::text, ', '), E'\t');
end $$;

comment on function brokerage.compose_task_rules(brokerage.profile_rule[], text) is
  'SQL of the rules of a profile that look at the task alone: task_id, status, rule and reason of the tasks that are '
  'throttled or fail. Errors: PB001, PB002 (a rule that does not fit).';
