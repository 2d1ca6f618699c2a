-- RETRIES.md: the obstacles come from the function that decides. If an id was inserted again, its earlier job may
-- have had another owner, and the numbers of its attempts may have begun at 1 again.
create or replace function taskqueue.explain_retry(
  p_setup text, p_job_id bigint, p_rules jsonb default null, p_attempt_number int default null
) returns table ("position" int, name text, verdict text, decision text, why text)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
#variable_conflict use_column
declare
  v_identity resource.identity := resource.identify_viewer(p_setup);
  v_end taskqueue.history;
  v_setting taskqueue.setting;
  v_last_bucket bigint := (select max(b.cpu_time) from taskqueue.cpu_bucket b where b.setup = p_setup);
  v_rules taskqueue.retry_rule[];
  v_failure taskqueue.failure;
  v_verdict taskqueue.verdict;
  v_killed boolean;
begin
  perform taskqueue.require_own_job(v_identity, p_job_id);
  if p_rules is not null then
    v_rules := taskqueue.read_retry_rules(p_setup, p_rules);
  end if;
  select h.* into v_end
    from taskqueue.history h
   where h.setup = p_setup and h.job_id = p_job_id and h.event = 'failed' and h.error_class is not null
     and (p_attempt_number is null or h.attempt = p_attempt_number)
     and (not v_identity.private or not exists (
            select from taskqueue.kept_definition k
             where k.setup = h.setup and k.definition_id = h.definition_id
               and (k.owner_dn <> v_identity.owner_dn or k.owner_group <> v_identity.owner_group)))
   order by h.at desc, h.attempt desc limit 1;
  if not found then
    raise exception 'no failed end of job % is kept in setup %',
      concat(coalesce(p_job_id::text, 'null'), ', attempt ' || p_attempt_number || ','), p_setup
      using errcode = 'PB004', hint = 'Retry rules decide when a leased job fails; history_kept says how long that is '
                                      'known.';
  end if;
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  v_killed := taskqueue.was_killed(v_end);
  select f.* into v_failure from taskqueue.failure_of(v_end, v_setting, v_last_bucket) f;
  select v.* into v_verdict from taskqueue.verdict_of(p_setup, v_failure, v_end.at, v_rules) v;
  return query
    select null::int, 'budget', null, null,
           format('failure %s%s, class %s%s; %s', v_failure.failures,
                  case when v_failure.of_task and v_failure.has_work then ' of the part' end, v_failure.error_class,
                  case when not (v_failure.of_task and v_failure.has_work) then ', in attempt ' || v_end.attempt end,
                  taskqueue.shown_budget(v_failure))
    union all
    (select a.position, (a.rule).name,
            case when o.obstacle is not null then 'no'
                 when (a.rule).passive and taskqueue.shown_retry_rule(a.rule) = v_verdict.passive_rule then 'noted'
                 when not (a.rule).passive and taskqueue.shown_retry_rule(a.rule) = v_verdict.retry_rule then 'applies'
                 else 'after' end,
            (a.rule).decision, coalesce(o.obstacle, 'it fits')
       from taskqueue.rules_among(p_setup, v_rules) a
      cross join lateral (
             select case when v_setting.most_retries = 0 then 'most_retries is 0, so no rule applies'
                         when v_killed then 'the job was marked for kill'
                         else taskqueue.retry_obstacle(a.rule, v_failure) end as obstacle) o
      order by a.position);
end $$;

comment on function taskqueue.explain_retry(text, bigint, jsonb, int) is
  'Each retry rule with its verdict on a failed end of a job, by default the last one, by the present settings: '
  'applies; noted (passive); after (the rule fits, but another rule comes first); no, with the reason. The first row '
  'has the budget. p_rules: rules in place of those of the setup, as set_retry_rules takes them; p_attempt_number: the '
  'attempt that failed. The same functions decide when a job fails. Errors: PB001 (p_rules), PB002 (setup or owner not '
  'granted), PB004 (no failed end is kept).';
