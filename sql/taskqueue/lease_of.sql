-- Section 8: every call about a leased job needs the token of its attempt; an agent learns only that its own is stale.
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
  raise exception 'attempt % of job % is stale', coalesce(split_part(p_attempt, '-', 1), 'null'), coalesce(p_job_id::text, 'null')
    using errcode = 'PB003', hint = 'The job was given back, has ended, or was given to another agent: stop working on it.',
          detail = coalesce(taskqueue.holder_of(p_setup, p_job_id), '');
end $$;

comment on function taskqueue.lease_of(text, bigint, text) is
'The lease of a job, locked, if the attempt is its own. Errors: PB003 (stale).';
