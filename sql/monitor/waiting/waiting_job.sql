-- The view finds the reason of each waiting job with the definitions that decide (MATCHING.md, Reasons).
create or replace view monitor.waiting_job as
select j.setup, j.job_id, j.task_queue_id, f.owner_group, f.owner_dn, f.cpu_time,
       taskqueue.reason_of(f, j.held, j.inserted_at) as reason, j.inserted_at, (f.kind).resource as resource,
       (f.kind).last_seen as resource_seen_at, (f.kept).found_at as found_at,
       (select r.meaning from monitor.reason r
         where r.reason = taskqueue.reason_of(f, j.held, j.inserted_at)) as meaning
  from taskqueue.job j
  join taskqueue.found_reason f on f.setup = j.setup and f.task_queue_id = j.task_queue_id
 where (j.setup = (select resource.bound_setup())) is not false;

comment on view monitor.waiting_job is
  'Jobs that wait in TaskQueues, each with its reason in one word. Restrict the setup and the job or the TaskQueue; '
  'monitor.waiting_by_reason has the numbers.';
comment on column monitor.waiting_job.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.waiting_job.reason is
  'Reason in one word (monitor.reason).';
comment on column monitor.waiting_job.resource is
  'Kind of resource that fits; if the reason is too_large, the kind that comes nearest; null = none.';
comment on column monitor.waiting_job.resource_seen_at is 'When a resource of that kind last asked, from a sample.';
comment on column monitor.waiting_job.found_at is
  'When the reason of its requirements was found; null = not yet, or the configuration has changed since.';
comment on column monitor.waiting_job.meaning is 'Meaning of the reason.';
