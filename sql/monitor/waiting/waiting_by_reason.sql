-- The view answers the first question of an operator: how many jobs wait, and why? The counts are those of
-- taskqueue.summarize_waiting.
create or replace view monitor.waiting_by_reason as
select w.setup, w.owner_group, w.cpu_time, w.reason, w.jobs, w.task_queues, w.oldest_at as oldest_job_at,
       s.counted_at - w.oldest_at as waits, s.counted_at, t.now - s.counted_at as age,
       (select r.meaning from monitor.reason r where r.reason = w.reason) as meaning
  from taskqueue.waiting_summary w
  join taskqueue.summary s on s.setup = w.setup
  join resource.setup_time t on t.setup = w.setup
 where (w.setup = (select resource.bound_setup())) is not false;

comment on view monitor.waiting_by_reason is
  'Jobs that wait in TaskQueues by owner group, CPU bucket and reason, as the loop summarize of `broker run` last '
  'counted them.';
comment on column monitor.waiting_by_reason.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.waiting_by_reason.reason is 'Reason in one word (monitor.reason).';
comment on column monitor.waiting_by_reason.task_queues is
  'Number of TaskQueues whose oldest job that is not held waits for this reason.';
comment on column monitor.waiting_by_reason.oldest_job_at is 'Time since which the oldest of these jobs has waited.';
comment on column monitor.waiting_by_reason.waits is 'How long the oldest of these jobs has waited.';
comment on column monitor.waiting_by_reason.counted_at is 'When the jobs were counted.';
comment on column monitor.waiting_by_reason.age is 'Time since the jobs were counted.';
comment on column monitor.waiting_by_reason.meaning is 'Meaning of the reason.';
