-- LEASES.md, Attempts: an agent is told only that its attempt is stale; operators see the holder of the job.
create or replace function taskqueue.holder_of(p_setup text, p_job_id bigint) returns text
language sql stable as $$
  select coalesce(
    (select format('Attempt %s has it: role %s%s%s, since %s.', l.attempt, l.role_name,
                   coalesce(' for ' || l.subject, ''), coalesce(' at ' || l.site, ''),
                   to_char(l.matched_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"'))
       from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id),
    (select format('It waits for attempt %s.', j.attempts + 1)
       from taskqueue.job j
      where j.setup = p_setup and j.job_id = p_job_id),
    (select format('It has ended: %s, attempt %s.', e.outcome, e.attempts)
       from taskqueue.ended e
      where e.setup = p_setup and e.job_id = p_job_id), 'It is not known here.')
   where pg_has_role(resource.caller(),
                     (select r.role_name from resource.installation_role r where r.kind = 'operator'), 'usage')
$$;

comment on function taskqueue.holder_of(text, bigint) is
  'The present holder of a job, as a sentence for operators; null for all other callers.';
