-- LEASES.md, Attempts: a repeated call gives the same answer, because the token of the last attempt is kept with the
-- ended job, or with the job that a retry rule tries again.
create or replace function taskqueue.finish_job(
  p_setup text, p_job_id bigint, p_attempt text, p_outcome text default 'finished', p_error jsonb default null,
  p_used jsonb default null, p_host text default null
) returns text
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_leases taskqueue.lease_event[];
  v_facts taskqueue.run_facts;
begin
  perform resource.identify(p_setup);
  if p_outcome is null or p_outcome not in ('finished', 'failed', 'cancelled', 'closed') then
    raise exception 'invalid outcome %', coalesce(quote_literal(left(p_outcome, 100)), 'null')
      using errcode = 'PB001', hint = 'Outcomes are finished, failed, cancelled and closed.';
  end if;
  if p_error is not null or p_used is not null or p_host is not null then
    v_facts := taskqueue.checked_facts(p_error, p_used, p_host);
  end if;
  perform taskqueue.enter_setup(p_setup);
  v_leases := taskqueue.presented_leases(p_setup, array[p_job_id], array[p_attempt], array[p_outcome],
                                         p_facts => array[v_facts]);
  if v_leases <> '{}' then
    perform taskqueue.end_leases(p_setup, v_leases);
  elsif not exists (select from taskqueue.ended e
                     where e.setup = p_setup and e.job_id = p_job_id and e.outcome = p_outcome
                       and taskqueue.attempt_text(e.attempts, e.token) = p_attempt)
        and not (p_outcome = 'failed' and taskqueue.was_tried_again(p_setup, p_job_id, p_attempt)) then
    perform taskqueue.refuse_attempt(p_setup, p_job_id, p_attempt);
  end if;
  return p_outcome;
end $$;

comment on function taskqueue.finish_job(text, bigint, text, text, jsonb, jsonb, text) is
  'Ends a leased job: finished, failed, cancelled or closed. p_error: up to seven errors [{"source": "pilot", "code": '
  '1305, "text": "..."}], the most important one first. p_used: {"cpu": seconds, "wall": seconds, "ram": MB, "cores": '
  'n}. p_host: the worker node. Each may be null; a report before the end may have named them. Repeating the call is '
  'no error. Errors: PB001 (outcome, attempt, error, used, host), PB002 (setup not granted), PB003 (stale attempt, or '
  'no such job).';
