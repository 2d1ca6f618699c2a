-- LEASES.md, Attempts: every call about a leased job presents the token of its attempt, and an agent learns only that
-- its own is stale. A job that is unknown gives PB003, too, so that the agent stops: the job may have been forgotten.
create or replace function taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) returns taskqueue.lease
language plpgsql as $$
declare
  v_lease taskqueue.lease;
begin
  -- a stale caller does not wait for the one that has the job
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then
    select l.* into v_lease from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if taskqueue.attempt_text(v_lease.attempt, v_lease.token) = p_attempt then
    return v_lease;
  end if;
  if (octet_length(p_attempt) <= 50 and p_attempt ~ '^[0-9]{1,10}-[0-9a-f]{32}$') is not true then
    -- the text may contain a token, so the error shows only its beginning
    raise exception 'invalid attempt %',
      coalesce(quote_literal(left(p_attempt, 20) || case when length(p_attempt) > 20 then '...' else '' end), 'null')
      using errcode = 'PB001',
            hint = 'Give the attempt that the match returned: a number, a hyphen and 32 hexadecimal digits.';
  elsif not taskqueue.is_known(p_setup, p_job_id) then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup
      using errcode = 'PB003', hint = 'It was never inserted, or it ended and was forgotten. Stop working on it.';
  end if;
  raise exception 'attempt % of job % is stale', split_part(p_attempt, '-', 1), p_job_id
    using errcode = 'PB003',
          hint = 'The job was given back, has ended, or was given to another agent. Stop working on it.',
          detail = coalesce(taskqueue.holder_of(p_setup, p_job_id), 'An operator sees who has the job.');
end $$;

comment on function taskqueue.lease_of(text, bigint, text) is
  'The lease of a job, locked, if the attempt is the current one. Errors: PB001 (not an attempt), PB003 (stale '
  'attempt, or no such job).';
