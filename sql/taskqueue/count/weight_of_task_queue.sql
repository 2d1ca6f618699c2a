-- SHARES.md, Weight of a TaskQueue. A TaskQueue that is empty or has only held jobs keeps its weight.
create or replace function taskqueue.weight_of_task_queue(p_task_queue taskqueue.task_queue, p_ten_first boolean)
returns table (weight float8, jobs bigint)
language sql stable rows 1 as $$
  select coalesce(sum(c.jobs * taskqueue.weight(c.user_priority, p_ten_first)) / nullif(sum(c.jobs), 0),
                  p_task_queue.mean_weight),
         coalesce(sum(c.jobs), 0)::bigint
    from taskqueue.job_level(p_task_queue.setup, p_task_queue.task_queue_id) c
$$;

comment on function taskqueue.weight_of_task_queue(taskqueue.task_queue, boolean) is
  'Mean weight and number of the jobs of a TaskQueue, as they are now.';
