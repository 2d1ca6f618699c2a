-- LEASES.md, Attempts: whether an attempt is the current one of the job, without a lock.
create or replace function taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) returns boolean
language sql stable as $$
  select exists (select from taskqueue.lease l
                  where l.setup = p_setup and l.job_id = p_job_id
                    and taskqueue.attempt_text(l.attempt, l.token) = p_attempt)
$$;

comment on function taskqueue.holds_attempt(text, bigint, text) is 'Whether the attempt has the job now.';
