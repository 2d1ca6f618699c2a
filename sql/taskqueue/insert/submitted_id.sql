-- Ids from 10^12 on belong to the jobs that brokerage makes (workload.make_jobs).
create or replace function taskqueue.submitted_id(p_value jsonb) returns bigint
language sql immutable as $$
  select taskqueue.job_id(p_value, 'job_id', 999999999999)
$$;

comment on function taskqueue.submitted_id(jsonb) is
  'The id that a submitter gives a job, from JSON, checked. Errors: PB001.';
