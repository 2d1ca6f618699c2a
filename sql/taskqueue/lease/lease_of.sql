-- Section 8: every call about a leased job needs the token of its attempt; an agent learns only that its own is
-- stale. Of a job that is nowhere it is told so, with the code that has it stop: the job may have been forgotten.
create or replace function taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) returns taskqueue.lease
language plpgsql
as $$
declare
  v_lease taskqueue.lease;
begin
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then  -- who is stale does not wait for who holds the job
    select l.* into v_lease from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if taskqueue.attempt_text(v_lease.attempt, v_lease.token) = p_attempt then
    return v_lease;
  end if;
  if (p_attempt ~ '^[0-9]{1,10}-[0-9a-f]{32}$') is not true then
    -- may hold a token
    raise exception 'attempt is %, which has not the form of one',
      coalesce(quote_literal(left(p_attempt, 20) || case when length(p_attempt) > 20 then '...' else '' end), 'null')
      using errcode = 'PB001',
            hint = 'Give the attempt as the match gave it: a number, a hyphen and 32 hexadecimal digits.';
  elsif not taskqueue.is_known(p_setup, p_job_id) then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup
      using errcode = 'PB003', hint = 'It was never inserted, or ended and is forgotten: stop working on it.';
  end if;
  raise exception 'attempt % of job % is stale', split_part(p_attempt, '-', 1), p_job_id
    using errcode = 'PB003',
          hint = 'The job was given back, has ended, or was given to another agent: stop working on it.',
          detail = coalesce(taskqueue.holder_of(p_setup, p_job_id), '');
end $$;

comment on function taskqueue.lease_of(text, bigint, text) is
  'The lease of a job, locked, if the attempt is its own. Errors: PB001 (attempt: not of the form), PB003 (stale, '
  'or there is no such job).';
