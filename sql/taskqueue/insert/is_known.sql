-- A job that brokerage made exists before it enters a TaskQueue.
create or replace function taskqueue.is_known(p_setup text, p_job_id bigint) returns boolean
language sql stable as $$
  select exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id)
      or exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id)
      or exists (select from taskqueue.ended e where e.setup = p_setup and e.job_id = p_job_id)
      or exists (select from workload.job w where w.setup = p_setup and w.job_id = p_job_id)
$$;

comment on function taskqueue.is_known(text, bigint) is
  'Whether a job waits, is leased or has ended in taskqueue, or exists in workload.';
