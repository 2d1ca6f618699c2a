-- For the schema instance; inlined by the planner, so that a caller pays for the columns alone that it reads.
create or replace function taskqueue.fate_of(p_setup text, p_job_id bigint)
returns table (waits boolean, task_queue_id bigint, is_leased boolean, outcome text)
language sql stable rows 1 as $$
  select exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id offset 0),
         (select j.task_queue_id from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id and not j.held),
         exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id offset 0),
         (select e.outcome from taskqueue.ended e where e.setup = p_setup and e.job_id = p_job_id)
$$;

comment on function taskqueue.fate_of(text, bigint) is
  'What has become of a job, one row: whether it waits (in which TaskQueue, unless it is held), whether it is leased, '
  'and how it ended; null if it has not, or is forgotten.';
