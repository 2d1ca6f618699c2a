-- LEASES.md, Attempts: a repeated call gives the same answer, because the token of the last attempt is kept with the
-- ended job.
create or replace function taskqueue.finish_job(
  p_setup text, p_job_id bigint, p_attempt text, p_outcome text default 'finished'
) returns text
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_leases taskqueue.lease_event[];
begin
  perform resource.identify(p_setup);
  if p_outcome is null or p_outcome not in ('finished', 'failed', 'cancelled', 'closed') then
    raise exception 'invalid outcome %', coalesce(quote_literal(left(p_outcome, 100)), 'null')
      using errcode = 'PB001', hint = 'Outcomes are finished, failed, cancelled and closed.';
  end if;
  perform taskqueue.enter_setup(p_setup);
  v_leases := taskqueue.presented_leases(p_setup, array[p_job_id], array[p_attempt], array[p_outcome]);
  if v_leases <> '{}' then
    perform taskqueue.end_leases(p_setup, v_leases);
  elsif not exists (select from taskqueue.ended e
                     where e.setup = p_setup and e.job_id = p_job_id and e.outcome = p_outcome
                       and taskqueue.attempt_text(e.attempts, e.token) = p_attempt) then
    perform taskqueue.refuse_attempt(p_setup, p_job_id, p_attempt);
  end if;
  return p_outcome;
end $$;

comment on function taskqueue.finish_job(text, bigint, text, text) is
  'Ends a leased job: finished, failed, cancelled or closed. Repeating the call is no error. Errors: PB001 (outcome, '
  'attempt), PB002 (setup not granted), PB003 (stale attempt, or no such job).';
