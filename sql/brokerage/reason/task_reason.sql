create or replace view brokerage.task_reason as
select d.setup, d.task_id, d.algorithm,
       case when d.not_open like 'has no jobs%' then 'input_missing'
            when d.status = 'paused' then 'held'
            when d.status = 'throttled' then 'throttled'
            when d.not_open is null then coalesce(w.reason, 'waiting')
            else 'waiting' end as reason,
       d.jobs_left, w.rule, w.queue, w.queues, w.run_id
  from brokerage.task_due_state d
  left join brokerage.waiting_reason w on w.setup = d.setup and w.task_id = d.task_id and w.algorithm = d.algorithm
 where d.has_task
   and (d.status = any ('{done,finished,failed,aborted,broken,exhausted,passed}')) is not true
   and (d.jobs_left > 0 or d.not_open like 'has no jobs%');

comment on view brokerage.task_reason is
  'Tasks that have not ended and wait for their broker, each with the reason in one word.';
comment on column brokerage.task_reason.algorithm is 'Broker that has the task.';
comment on column brokerage.task_reason.reason is
  'Reason: misconfigured, too_large, held, input_missing, no_queue_accepts, limited, throttled or waiting.';
comment on column brokerage.task_reason.jobs_left is 'Number of jobs that are not assigned yet.';
comment on column brokerage.task_reason.rule is
  'Rule that rejected the queue that came nearest to passing, or the whole task; null if there is none.';
comment on column brokerage.task_reason.queue is 'Queue (or nucleus) that comes nearest; null if there is none.';
comment on column brokerage.task_reason.queues is
  'Number of queues that this rule rejected; null if there is no such rule.';
comment on column brokerage.task_reason.run_id is 'Run that decided so; null if there is none yet.';
