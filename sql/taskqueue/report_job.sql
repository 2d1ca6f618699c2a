-- Section 8: the first report makes the lease running; each is answered continue or kill.
create or replace function taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) returns table (action text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_lease taskqueue.lease;
  v_now timestamptz := resource.clock(p_setup);
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.lease_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = p_job_id;
  if v_lease.state = 'matched' then
    perform taskqueue.note_event(v_lease, 'running');
  end if;
  return query select case when v_lease.kill_reason is null then 'continue' else 'kill' end, v_lease.kill_reason;
end $$;

comment on function taskqueue.report_job(text, bigint, text) is
'An agent says that it works on the job; answers continue, or kill with the reason. Errors: PB002 (setup not granted), PB003 (stale attempt).';
