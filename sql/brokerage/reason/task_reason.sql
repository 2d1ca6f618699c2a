-- These are the rows of brokerage.task_due_state with has_task that wait (a test compares both). Its text not_open and
-- its row for each broker took three quarters of the time of a list of 20,000 tasks. Each table is joined by its whole
-- key, so that a plan made without statistics is a look-up for each task.
create or replace view brokerage.task_reason as
select t.setup, t.task_id, a.algorithm,
       case when a.works and coalesce(i.jobs, 0) = 0 then 'input_missing'
            when t.status = 'paused' then 'held'
            when t.status = 'throttled' then 'throttled'
            when a.works or a.algorithm = 'production_task' then coalesce(w.reason, 'waiting')
            else 'waiting' end as reason,
       coalesce(i.jobs, 0) - coalesce(s.assigned_jobs, 0) as jobs_left, w.rule, w.queue, w.queues, w.run_id
  from workload.task t
 cross join lateral (
   select case when t.label in ('user', 'panda') then 'analysis_job'
               when t.status = 'assigning' then 'production_task'
               else 'production_job' end as algorithm,
          coalesce(t.status in ('ready', 'scouting', 'running', 'pending'), false) as works) a
  left join workload.input_digest i on i.setup = t.setup and i.task_id = t.task_id
  left join brokerage.task_state s on s.setup = t.setup and s.task_id = t.task_id and s.algorithm = a.algorithm
  left join brokerage.waiting_reason w on w.setup = t.setup and w.task_id = t.task_id and w.algorithm = a.algorithm
 where (t.setup = (select resource.bound_setup())) is not false
   and (t.status = any ('{done,finished,failed,aborted,broken,exhausted,passed}')) is not true
   and (coalesce(i.jobs, 0) - coalesce(s.assigned_jobs, 0) > 0 or a.works and coalesce(i.jobs, 0) = 0);

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
