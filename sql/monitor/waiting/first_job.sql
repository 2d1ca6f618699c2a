-- The view finds cheaply which jobs wait longest. monitor.oldest_job is exact, but reads every waiting job.
create or replace view monitor.first_job as
select q.setup, q.task_queue_id, q.owner_group, q.owner_dn, q.cpu_time, f.job_id, f.inserted_at,
       t.now - f.inserted_at as waits
  from taskqueue.task_queue q
  join resource.setup_time t on t.setup = q.setup
 cross join lateral (
   select j.job_id, j.inserted_at from taskqueue.first_job j
    where j.setup = q.setup and j.task_queue_id = q.task_queue_id and not j.held
    order by j.inserted_at, j.job_id limit 1) f
 where q.enabled and not q.held
   and not exists (select from taskqueue.held_owner n where n.setup = q.setup and n.owner_dn = q.owner_dn)
   and (q.setup = (select resource.bound_setup())) is not false;

comment on view monitor.first_job is
  'The first waiting job of each open TaskQueue whose owner is not held, by its id: nearly always the one '
  'that waits longest.';
comment on column monitor.first_job.task_queue_id is 'TaskQueue.';
comment on column monitor.first_job.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.first_job.job_id is 'First waiting job of the TaskQueue that is not held.';
comment on column monitor.first_job.waits is 'How long the job has waited.';
