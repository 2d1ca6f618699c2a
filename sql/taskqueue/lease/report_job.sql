-- LEASES.md, Leases: the first report makes the lease running, and the answer is continue or kill. A brokered job
-- gets the status that its agent reports; the first heartbeat of a job in the status sent makes it starting.
create or replace function taskqueue.report_job(
  p_setup text, p_job_id bigint, p_attempt text, p_status text default 'running'
) returns table (action text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_lease taskqueue.lease;
  v_now timestamptz := resource.clock(p_setup);
begin
  perform resource.identify(p_setup);
  if p_status not in ('starting', 'running', 'holding', 'transferring') then
    raise exception 'invalid status %', quote_literal(left(p_status, 100))
      using errcode = 'PB001',
            hint = 'An agent reports starting, running, holding or transferring; null is a heartbeat. '
                   'A job ends with taskqueue.finish_job.';
  end if;
  perform taskqueue.enter_setup(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.heartbeat_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = p_job_id;
  if v_lease.state = 'matched' then
    perform taskqueue.note_event(v_lease, 'running');
  end if;
  if v_lease.brokered and (p_status is not null or v_lease.state = 'matched') then
    perform workload.move_job(p_setup, p_job_id, coalesce(p_status, 'starting'), 'report_job');
  end if;
  return query select case when v_lease.kill_reason is null then 'continue' else 'kill' end, v_lease.kill_reason;
end $$;

comment on function taskqueue.report_job(text, bigint, text, text) is
  'A report of the agent that has the job: starting, running, holding or transferring; null = a heartbeat. The answer '
  'is continue, or kill with the reason. Errors: PB001 (status, attempt), PB002 (setup not granted), PB003 (stale '
  'attempt, or no such job), PB005 (the status of a brokered job does not allow this one).';
