-- after: taskqueue.job_level
-- Waiting jobs a queue, base and changes read in one statement.
create or replace view taskqueue.queue_count as
select q.setup, q.task_queue_id, coalesce(sum(l.jobs), 0)::bigint as jobs
  from taskqueue.task_queue q
  left join lateral taskqueue.job_level(q.setup, q.task_queue_id) l on true
 group by q.setup, q.task_queue_id;

comment on view taskqueue.queue_count is
'Waiting jobs that are not held, by TaskQueue.';
comment on column taskqueue.queue_count.setup is 'Tenant.';
comment on column taskqueue.queue_count.task_queue_id is 'TaskQueue.';
comment on column taskqueue.queue_count.jobs is 'Waiting jobs that are not held.';
