-- Counts are a base and changes (architecture, Hot rows); one statement reads both.
create or replace function taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) returns bigint
language sql stable
as $$
  select (coalesce((select sum(c.jobs) from taskqueue.job_count c where c.setup = p_setup and c.task_queue_id = p_task_queue_id), 0)
          + coalesce((select sum(c.change) from taskqueue.job_count_change c where c.setup = p_setup and c.task_queue_id = p_task_queue_id), 0))::bigint
$$;

comment on function taskqueue.jobs_in(text, bigint) is 'Waiting jobs of a queue that are not held.';
