-- The view shows which platforms the waiting jobs accept.
create or replace view monitor.waiting_by_platform as
select q.setup, coalesce(v.value, '(any platform)') as platform, count(*) as task_queues, sum(n.jobs)::bigint as jobs
  from taskqueue.task_queue q
  join taskqueue.task_queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
  left join taskqueue.task_queue_platform v on v.setup = q.setup and v.task_queue_id = q.task_queue_id
 where (q.setup = (select resource.bound_setup())) is not false
 group by q.setup, v.value;

comment on view monitor.waiting_by_platform is
  'TaskQueues and waiting jobs by the platforms that may run them; a queue counts at every platform that it lists.';
comment on column monitor.waiting_by_platform.platform is 'Name of the platform, or (any platform).';
comment on column monitor.waiting_by_platform.task_queues is 'Number of TaskQueues.';
