-- Section 9: tp is the mean draw weight of a queue's jobs. A queue without jobs that could
-- be matched keeps the one it had.
create or replace function taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean)
returns table (weight float8)
language sql stable
rows 1
as $$
  select coalesce(sum(c.jobs * taskqueue.weight(c.user_priority, p_ten_first)) / nullif(sum(c.jobs), 0),
                  p_queue.mean_weight)
    from taskqueue.job_level(p_queue.setup, p_queue.task_queue_id) c
$$;

comment on function taskqueue.weight_of_queue(taskqueue.task_queue, boolean) is
  'Mean draw weight of the jobs of a TaskQueue, as they are now.';
