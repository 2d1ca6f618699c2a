-- Pages and metrics read these counts, so that no other call counts every waiting job. Counting takes at most a
-- twentieth of the time: the next count begins after a pause nineteen times as long as the last one. Rows that did not
-- change are not written.
create or replace function taskqueue.summarize_waiting(p_setup text) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp set jit = off set enable_nestloop = off as $$
declare
  v_began timestamptz := clock_timestamp();
  v_jobs bigint;
begin
  perform resource.identify(p_setup);
  perform from resource.setup s where s.setup = p_setup for key share;  -- keeps the setup from being removed
  if not found or not pg_try_advisory_xact_lock(hashtext('taskqueue.summarize_waiting'), hashtext(p_setup))
     or exists (select from taskqueue.summary s
                 where s.setup = p_setup and s.due_at > v_began and s.due_at < v_began + interval '1 hour') then
    return null;
  end if;
  with waiting as materialized (
    select w.definition_id, w.owner_group, w.cpu_time, w.reason, w.jobs, w.oldest_at,
           row_number() over (partition by w.task_queue_id
                              order by w.reason = 'held', w.oldest_at, w.reason) = 1 as has_oldest
      from taskqueue.waiting_group w
     where w.setup = p_setup
  ), by_group as (
    select w.owner_group, w.cpu_time, w.reason, sum(w.jobs)::bigint as jobs,
           count(*) filter (where w.has_oldest) as task_queues, min(w.oldest_at) as oldest_at
      from waiting w group by w.owner_group, w.cpu_time, w.reason
  ), by_site as (
    select s.site, w.reason, sum(w.jobs)::bigint as jobs
      from (select i.definition_id, i.reason, sum(i.jobs) as jobs from waiting i group by 1, 2) w
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id
     cross join lateral unnest(case when d.sites = '{}' then '{*}' else d.sites end) s (site)
     where s.site <> all (d.banned_sites)
     group by s.site, w.reason
  ), gone as (
    delete from taskqueue.waiting_summary g
     where g.setup = p_setup
       and (g.owner_group, g.cpu_time, g.reason) not in (select b.owner_group, b.cpu_time, b.reason from by_group b)
  ), site_gone as (
    delete from taskqueue.waiting_site_summary g
     where g.setup = p_setup and (g.site, g.reason) not in (select b.site, b.reason from by_site b)
  ), kept as (
    insert into taskqueue.waiting_summary as k (setup, owner_group, cpu_time, reason, jobs, task_queues, oldest_at)
    select p_setup, b.owner_group, b.cpu_time, b.reason, b.jobs, b.task_queues, b.oldest_at from by_group b
    on conflict (setup, owner_group, cpu_time, reason) do update
       set jobs = excluded.jobs, task_queues = excluded.task_queues, oldest_at = excluded.oldest_at
     where (k.jobs, k.task_queues, k.oldest_at) <> (excluded.jobs, excluded.task_queues, excluded.oldest_at)
  ), site_kept as (
    insert into taskqueue.waiting_site_summary as k (setup, site, reason, jobs)
    select p_setup, b.site, b.reason, b.jobs from by_site b
    on conflict (setup, site, reason) do update set jobs = excluded.jobs where k.jobs <> excluded.jobs
  )
  select coalesce(sum(b.jobs), 0) into v_jobs from by_group b;
  insert into taskqueue.summary as s (setup, counted_at, took, due_at)
  select t.setup, t.now, n.now - v_began, n.now + 19 * (n.now - v_began)
    from resource.setup_time t cross join (select clock_timestamp() as now) n
   where t.setup = p_setup
  on conflict (setup) do update set counted_at = excluded.counted_at, took = excluded.took, due_at = excluded.due_at;
  return v_jobs;
end $$;

comment on function taskqueue.summarize_waiting(text) is
  'Counts the waiting jobs by reason, group and CPU bucket, and by reason and site, for monitor.waiting_by_reason and '
  'monitor.waiting_at_site; returns how many wait, or null if another call is counting or the last count was just now. '
  '`broker run` calls it every few seconds (loop summarize). Errors: PB002 (setup not granted).';
