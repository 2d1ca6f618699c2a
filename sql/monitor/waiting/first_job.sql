-- What waits longest, cheaply: of each open TaskQueue and user priority the job with the lowest id, since ids ascend
-- with time as a rule. monitor.oldest_job is exact, and reads every waiting job. The user
-- priority is a range, so that no index but job_order has the order: by the primary key, 325,000 jobs took 3 s.
create or replace view monitor.first_job as
select q.setup, q.task_queue_id, q.owner_group, q.owner_dn, q.cpu_time, f.job_id, f.inserted_at,
       t.now - f.inserted_at as waits
  from taskqueue.task_queue q
  join resource.setup_time t on t.setup = q.setup
 cross join lateral (
   select j.job_id, j.inserted_at
     from generate_series(0, 10) u(user_priority)
    cross join lateral (
      select i.job_id, i.inserted_at from taskqueue.job i
       where i.setup = q.setup and i.task_queue_id = q.task_queue_id and not i.held
         and (i.user_priority, i.job_id) > (u.user_priority, 0) and i.user_priority <= u.user_priority
       order by i.user_priority, i.job_id limit 1) j
    order by j.inserted_at, j.job_id limit 1) f
 where q.enabled and not q.held and (q.setup = (select resource.bound_setup())) is not false;

comment on view monitor.first_job is
  'The first waiting job of each TaskQueue that is open, by its id: nearly the one that waits longest.';
comment on column monitor.first_job.task_queue_id is 'TaskQueue.';
comment on column monitor.first_job.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.first_job.job_id is 'Its first waiting job that is not held.';
comment on column monitor.first_job.waits is 'How long.';
