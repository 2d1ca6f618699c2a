-- The view shows how long the waiting jobs are.
create or replace view monitor.waiting_by_cpu_bucket as
select b.setup, b.cpu_time, count(q.task_queue_id) as task_queues, coalesce(sum(n.jobs), 0)::bigint as jobs
  from taskqueue.cpu_bucket b
  left join taskqueue.task_queue q on q.setup = b.setup and q.cpu_time = b.cpu_time
  left join taskqueue.task_queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
 where (b.setup = (select resource.bound_setup())) is not false
 group by b.setup, b.cpu_time;

comment on view monitor.waiting_by_cpu_bucket is 'TaskQueues and waiting jobs by CPU bucket; empty buckets are shown.';
comment on column monitor.waiting_by_cpu_bucket.task_queues is 'Number of TaskQueues.';
