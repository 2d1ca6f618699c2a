-- The word of a task's jobs that no run has assigned yet.
create or replace view brokerage.task_reason as
select t.setup, t.task_id, a.algorithm,
       case when d.not_open like 'has no jobs%' then 'input_missing'
            when t.status = 'paused' then 'held'
            when t.status = 'throttled' then 'throttled'
            when d.not_open is null then coalesce(w.reason, 'waiting')
            else 'waiting' end as reason,
       d.jobs_left, w.rule, w.queue, w.queues, w.run_id
  from workload.task t
 cross join lateral (
   select case when t.label in ('user', 'panda') then 'analysis_job'
               when t.status = 'assigning' then 'production_task'
               else 'production_job' end as algorithm) a
  join brokerage.task_standing d on d.setup = t.setup and d.task_id = t.task_id and d.algorithm = a.algorithm
  left join brokerage.waiting_reason w on w.setup = t.setup and w.task_id = t.task_id and w.algorithm = a.algorithm
 where (t.status = any ('{done,finished,failed,aborted,broken,exhausted,passed}')) is not true
   and (d.jobs_left > 0 or d.not_open like 'has no jobs%');

comment on view brokerage.task_reason is
  'Tasks that have not ended and wait for their broker, each with one word why.';
comment on column brokerage.task_reason.algorithm is 'Broker that has the task.';
comment on column brokerage.task_reason.reason is
  'misconfigured, too_large, held, input_missing, no_queue_accepts, limited, throttled or waiting.';
comment on column brokerage.task_reason.jobs_left is 'Jobs that are not assigned yet.';
comment on column brokerage.task_reason.rule is
  'Rule that rejected the queue which comes nearest, or the whole task; null = none.';
comment on column brokerage.task_reason.queue is 'Queue (or nucleus) that comes nearest; null = none.';
comment on column brokerage.task_reason.queues is 'Queues that this rule rejected; null = none.';
comment on column brokerage.task_reason.run_id is 'Run that decided so; null = none yet.';
