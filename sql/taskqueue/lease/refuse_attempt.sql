-- LEASES.md, Attempts: an agent is told only that its attempt is stale. An unknown job also gives PB003, so that the
-- agent stops: the job may have been forgotten.
create or replace function taskqueue.refuse_attempt(p_setup text, p_job_id bigint, p_attempt text) returns void
language plpgsql as $$
begin
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

comment on function taskqueue.refuse_attempt(text, bigint, text) is
  'Refuses an attempt that does not have the job. Errors: PB001 (not an attempt), PB003 (stale attempt, or no such '
  'job).';
