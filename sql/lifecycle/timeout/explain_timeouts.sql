create or replace function lifecycle.explain_timeouts(p_setup text, p_job_id bigint)
returns table ("position" int, rule text, verdict text, action text, age interval, time_limit interval, limit_from text,
               due_at timestamptz, why text)
language plpgsql stable security definer set search_path = lifecycle, pg_temp set timezone = 'UTC' as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_status text;
begin
  perform resource.identify_viewer(p_setup);
  select j.status into v_status from workload.job j where j.setup = p_setup and j.job_id = p_job_id;
  if not found then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Jobs are made by brokerage, or loaded.';
  end if;
  return query
  with judged as (
    select t.*, min(t.place) filter (where t.obstacle is null and t.since < v_now - t.time_limit) over () as first_place
      from lifecycle.judge_timeouts(p_setup, array[p_job_id], true) t
  )
  select j.place, j.rule,
         case when j.obstacle is not null then 'never'
              when j.place = j.first_place then 'applies'
              when j.since < v_now - j.time_limit then 'later'
              else 'waits' end,
         j.action, v_now - j.since, j.time_limit, j.limit_from,
         case when j.obstacle is null then j.since + j.time_limit end,
         coalesce(j.obstacle,
                  format('%s, %s %s ago, %s %s (%s)', j.status, lifecycle.clock_event(j.clock),
                         date_trunc('second', v_now - j.since),
                         case when j.since < v_now - j.time_limit then 'above' else 'not above' end, j.time_limit,
                         j.limit_from)
                  || case when j.place > j.first_place and j.since < v_now - j.time_limit
                          then format('; timeout %s comes first', j.first_place)
                          else '' end)
    from judged j
   order by j.place;
  if not found then
    return query
    select r.position, r.rule, 'never', r.action, null::interval, null::interval, null, null::timestamptz,
           format('the job has ended: %s', coalesce(v_status, 'no status'))
      from lifecycle.timeouts_of(p_setup) r
     order by r.position;
  end if;
end $$;

comment on function lifecycle.explain_timeouts(text, bigint) is
  'Every timeout of a job, in order: the verdict (applies; later: another one comes first; waits: due at due_at if '
  'nothing changes; never), the present age, the limit with its source, and the reason. The same query decides about '
  'the job. Errors: PB002 (setup not granted), PB004 (no such job).';
