-- TIMEOUTS.md, Watching. Candidates are read without a lock; then a few at a time are locked and judged once more, so a
-- heartbeat in between counts, and a job that another watcher has ended is not ended again. Tasks are taken in
-- order, so that two watchers that give work back to the same tasks wait for each other and never deadlock. Leased jobs
-- that were sent are left to lifecycle.expire_leases.
create or replace function lifecycle.watch_timeouts(
  p_setup text, p_dry_run boolean default false, p_limit int default null
) returns table (rule text, action text, jobs bigint)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_most int := coalesce(p_limit, (select s.most from lifecycle.setting_in_force s where s.setup = p_setup));
  v_ids bigint[];
  v_some bigint[];
  v_due record;
  v_done jsonb := jsonb '{}';
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  if v_most < 1 then
    raise exception 'limit is %', v_most
      using errcode = 'PB001', hint = 'Give how many jobs are touched at most by rule, at least 1.';
  end if;
  if p_dry_run then
    return query
      select o.rule, o.action, least(count(*), v_most)
        from lifecycle.overdue(p_setup) o
       where not (o.is_leased and o.rule = 'sent')
       group by o.rule, o.action
       order by min(o.place), o.action;
    return query select * from lifecycle.failed_conditions(p_setup);
    return;
  end if;
  perform taskqueue.enter_setup(p_setup);
  v_ids := array(select d.job_id
                   from (select o.job_id, o.task_id, row_number() over (partition by o.rule order by o.job_id) as number
                           from lifecycle.overdue(p_setup) o where not (o.is_leased and o.rule = 'sent')) d
                  where d.number <= v_most
                  order by d.task_id nulls first, d.job_id);
  for i in 1 .. cardinality(v_ids) by 500 loop
    v_some := lifecycle.lock_jobs(p_setup, v_ids[i : i + 499]);
    for v_due in
      select o.*
        from lifecycle.overdue(p_setup, v_some) o
       where not (o.is_leased and o.rule = 'sent')
       order by o.task_id nulls first, o.job_id
    loop
      if v_due.action = 'rebroker' then
        perform lifecycle.return_to_task(p_setup, v_due.job_id, v_due.why);
      else
        perform lifecycle.end_job(p_setup, v_due.job_id,
                                  case v_due.action when 'fail' then 'failed' else 'cancelled' end, v_due.why,
                                  v_due.rule);
      end if;
      v_done := jsonb_set(v_done, array[v_due.place || ' ' || v_due.action],
                          to_jsonb(coalesce((v_done ->> (v_due.place || ' ' || v_due.action))::bigint, 0) + 1));
    end loop;
  end loop;
  return query
    select r.rule, split_part(d.key, ' ', 2), sum(d.value::bigint)::bigint
      from jsonb_each_text(v_done) d
      join lifecycle.timeouts_of(p_setup) r on r.position = split_part(d.key, ' ', 1)::int
     group by r.rule, split_part(d.key, ' ', 2) order by min(r.position), 2;
  return query select * from lifecycle.failed_conditions(p_setup);
end $$;

comment on function lifecycle.watch_timeouts(text, boolean, int) is
  'Ends the jobs to which a timeout of the setup applies, or gives their work back to their tasks, up to p_limit per '
  'rule (null means the setting most); p_dry_run only counts. Returns a row for each rule and action that touched a '
  'job, and one for each rule with a condition that fails for a job (action error: ..., 0 jobs). Two simultaneous '
  'calls are safe. Errors: PB001 (limit), PB002 (setup not granted).';
