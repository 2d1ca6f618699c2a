-- LEASES.md, Leases: the reports of a call that nothing stands in the way of, in a few statements for all.
create or replace function taskqueue.report_together(p_setup text, p_reports jsonb)
returns table (job_id bigint, action text, reason text)
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_known taskqueue.presented[];
  v_moved bigint[];
begin
  v_known := taskqueue.presented_leases(p_setup, p_reports, 'status', 'running',
                                        '{starting,running,holding,transferring}');
  if exists (select from unnest(v_known) k where (k.lease).brokered) then
    select workload.move_jobs(p_setup, array_agg((k.lease).job_id), array_agg(coalesce(k.wish, 'starting')),
                              array_agg('report_job'::text))
      into v_moved
      from unnest(v_known) k
     where (k.lease).brokered and (k.wish is not null or (k.lease).state = 'matched');
    v_known := array(select k
                       from unnest(v_known) k
                      where not (k.lease).brokered or k.wish is null and (k.lease).state <> 'matched'
                         or (k.lease).job_id = any (v_moved));
  end if;
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.heartbeat_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = any (array(select (k.lease).job_id from unnest(v_known) k));
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority,
                                 site, grid_ce, role_name, subject)
  select p_setup, v_now, (k.lease).job_id, (k.lease).attempt, 'running', (k.lease).task_queue_id,
         (k.lease).definition_id, (k.lease).user_priority, (k.lease).site, (k.lease).grid_ce, resource.caller(),
         k.subject
    from unnest(v_known) k
   where (k.lease).state = 'matched';
  return query
    select (k.lease).job_id, case when (k.lease).kill_reason is null then 'continue' else 'kill' end,
           (k.lease).kill_reason
      from unnest(v_known) k;
end $$;

comment on function taskqueue.report_together(text, jsonb) is
  'The reports of a call that nothing stands in the way of, with their answers. The others are left to '
  'taskqueue.report_job, which names what is wrong. Errors: PB002 (a subject, from another login than the service).';
