-- LEASES.md, Leases.
create or replace function taskqueue.report_job(
  p_setup text, p_job_id bigint, p_attempt text, p_status text default 'running', p_error jsonb default null,
  p_used jsonb default null, p_host text default null
) returns table (action text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_leases taskqueue.lease_event[];
  v_facts taskqueue.run_facts;
begin
  perform resource.identify(p_setup);
  if p_status not in ('starting', 'running', 'holding', 'transferring') then
    raise exception 'invalid status %', quote_literal(left(p_status, 100))
      using errcode = 'PB001',
            hint = 'An agent reports starting, running, holding or transferring; null is a heartbeat. '
                   'A job ends with taskqueue.finish_job.';
  end if;
  if p_error is not null or p_used is not null or p_host is not null then
    v_facts := taskqueue.checked_facts(p_error, p_used, p_host);
  end if;
  perform taskqueue.enter_setup(p_setup);
  v_leases := taskqueue.presented_leases(p_setup, array[p_job_id], array[p_attempt], array[p_status],
                                         p_facts => array[v_facts]);
  if v_leases = '{}' then
    perform taskqueue.refuse_attempt(p_setup, p_job_id, p_attempt);
  end if;
  perform taskqueue.report_leases(p_setup, v_leases);
  reason := ((v_leases[1]).lease).kill_reason;
  action := case when reason is null then 'continue' else 'kill' end;
  return next;
end $$;

comment on function taskqueue.report_job(text, bigint, text, text, jsonb, jsonb, text) is
  'A report of the agent that has the job: starting, running, holding or transferring; null means a heartbeat. The '
  'answer is continue, or kill with the reason. p_error, p_used, p_host: facts as for taskqueue.finish_job, which an '
  'end without them takes over; the first host counts, the largest memory, and the last of the others. Errors: PB001 '
  '(status, attempt, error, used, host), PB002 (setup not granted), PB003 '
  '(stale attempt, or no such job), PB005 (the status of a brokered job does not allow the reported status).';
