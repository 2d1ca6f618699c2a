-- LEASES.md, Attempts: pilots of PanDA and DIRAC know no token. They send the id of the job, and PanDA's pilots also
-- send the number of the attempt; the service knows their identity.
create or replace function taskqueue.attempt_of_subject(p_setup text, p_job_id bigint, p_attempt_number int)
returns text language plpgsql stable as $$
declare
  v_subject text := (resource.subject()).name;
  v_attempt text;
begin
  if v_subject is null then
    return null;
  end if;
  select taskqueue.attempt_text(l.attempt, l.token) into v_attempt
    from taskqueue.lease l
   where l.setup = p_setup and l.job_id = p_job_id and l.subject = v_subject
     and l.attempt = coalesce(p_attempt_number, l.attempt);
  if v_attempt is null then  -- the subject may have reported the end already
    select taskqueue.attempt_text(e.attempts, e.token) into v_attempt
      from taskqueue.ended_by_subject(p_setup, p_job_id, v_subject) e
     where e.attempts = coalesce(p_attempt_number, e.attempts);
  end if;
  if v_attempt is null then
    raise exception '% does not have job %', resource.shown(to_jsonb(v_subject)),
      p_job_id || coalesce(' in attempt ' || p_attempt_number, '')
      using errcode = 'PB003',
            hint = 'The job was given back, has ended, or was given to another agent. Stop working on it.',
            detail = coalesce(taskqueue.holder_of(p_setup, p_job_id), 'An operator sees who has the job.');
  end if;
  return v_attempt;
end $$;

comment on function taskqueue.attempt_of_subject(text, bigint, int) is
  'The attempt by which the subject that calls through the service has a job, or ended it. A null number means any '
  'attempt. The result is null if the call does not come through the service. Errors: PB003 (the subject does not have '
  'the job).';
