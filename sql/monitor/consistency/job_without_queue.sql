create or replace view monitor.job_without_queue as
select j.setup, j.job_id, j.task_queue_id
  from taskqueue.job j
 where not exists (select from taskqueue.task_queue q where q.setup = j.setup and q.task_queue_id = j.task_queue_id)
   and (j.setup = (select resource.bound_setup())) is not false;

comment on view monitor.job_without_queue is
  'Waiting jobs that are in no TaskQueue. Always empty; a row is a fault of pgbroker.';
comment on column monitor.job_without_queue.task_queue_id is 'TaskQueue of the job, which does not exist.';
