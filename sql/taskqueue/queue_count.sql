-- Waiting jobs a queue, base and changes read in one statement.
create or replace view taskqueue.queue_count as
select c.setup, c.task_queue_id, sum(c.jobs)::bigint as jobs
  from (select b.setup, b.task_queue_id, b.jobs from taskqueue.job_count b
        union all
        select a.setup, a.task_queue_id, a.change from taskqueue.job_count_change a) c
 group by c.setup, c.task_queue_id;

comment on view taskqueue.queue_count is
'Waiting jobs that are not held, by TaskQueue.';
comment on column taskqueue.queue_count.setup is 'Tenant.';
comment on column taskqueue.queue_count.task_queue_id is 'TaskQueue.';
comment on column taskqueue.queue_count.jobs is 'Waiting jobs that are not held.';
