-- Section 9: tp is the mean draw weight of a queue's jobs. A queue without jobs that could be matched keeps the one it had.
create or replace function taskqueue.weight_of_queue(p_setup text) returns table (task_queue_id bigint, weight float8)
language sql stable
as $$
  select c.task_queue_id, sum(c.jobs * taskqueue.weight(c.user_priority, s.ten_first)) / sum(c.jobs)
    from (select b.task_queue_id, b.user_priority, b.jobs from taskqueue.job_count b where b.setup = p_setup
          union all
          select a.task_queue_id, a.user_priority, a.change from taskqueue.job_count_change a where a.setup = p_setup) c
   cross join taskqueue.setting s
   where s.setup = p_setup
   group by c.task_queue_id
  having sum(c.jobs) > 0
$$;

comment on function taskqueue.weight_of_queue(text) is 'Mean draw weight of the jobs of each TaskQueue that has jobs not held.';
