-- LEASES.md, Attempts: the same call repeated gives the same answer, because the token of the last attempt is kept
-- with the ended job.
create or replace function taskqueue.finish_job(
  p_setup text, p_job_id bigint, p_attempt text, p_outcome text default 'finished'
) returns text
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform resource.identify(p_setup);
  if p_outcome is null or p_outcome not in ('finished', 'failed', 'cancelled', 'closed') then
    raise exception 'invalid outcome %', coalesce(quote_literal(left(p_outcome, 100)), 'null')
      using errcode = 'PB001', hint = 'Outcomes are finished, failed, cancelled and closed.';
  end if;
  perform taskqueue.enter_setup(p_setup);
  -- The lock waits for the same call if that is still running (its client may have given up);
  -- afterwards its result is visible.
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then
    perform from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if exists (select from taskqueue.ended e
              where e.setup = p_setup and e.job_id = p_job_id and e.outcome = p_outcome
                and taskqueue.attempt_text(e.attempts, e.token) = p_attempt) then
    return p_outcome;
  end if;
  perform taskqueue.end_lease(taskqueue.lease_of(p_setup, p_job_id, p_attempt), p_outcome);
  return p_outcome;
end $$;

comment on function taskqueue.finish_job(text, bigint, text, text) is
  'Ends a leased job: finished, failed, cancelled or closed. The same call again is no error. Errors: PB001 (outcome, '
  'attempt), PB002 (setup not granted), PB003 (stale attempt, or no such job).';
