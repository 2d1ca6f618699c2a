-- The view shows whose jobs wait.
create or replace view monitor.waiting_by_group as
select q.setup, q.owner_group, q.owner_dn, count(*) as task_queues, sum(n.jobs)::bigint as jobs,
       sum(q.priority) as priority,
       min(j.inserted_at) as oldest_job_at
  from taskqueue.task_queue q
  join taskqueue.task_queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
  left join lateral (select min(i.inserted_at) as inserted_at from taskqueue.job i
                      where i.setup = q.setup and i.task_queue_id = q.task_queue_id) j on true
 where (q.setup = (select resource.bound_setup())) is not false
 group by q.setup, q.owner_group, q.owner_dn;

comment on view monitor.waiting_by_group is 'TaskQueues and waiting jobs by owner group and owner.';
comment on column monitor.waiting_by_group.task_queues is 'Number of TaskQueues.';
comment on column monitor.waiting_by_group.priority is 'Sum of their priorities.';
comment on column monitor.waiting_by_group.oldest_job_at is 'Time since which the oldest job has waited.';
