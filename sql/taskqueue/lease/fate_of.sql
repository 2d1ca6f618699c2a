-- The schema instance uses this. The planner inlines it, so that a caller pays only for the columns that it reads.
create or replace function taskqueue.fate_of(p_setup text, p_job_id bigint)
returns table (waits boolean, task_queue_id bigint, is_leased boolean, outcome text)
language sql stable rows 1 as $$
  select exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id offset 0),
         (select j.task_queue_id from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id and not j.held),
         exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id offset 0),
         (select e.outcome from taskqueue.ended e where e.setup = p_setup and e.job_id = p_job_id)
$$;

comment on function taskqueue.fate_of(text, bigint) is
  'The state of a job as one row: whether it waits (and in which TaskQueue, unless it is held), whether it is leased, '
  'and how it ended (null if it has not ended or is forgotten).';
