-- A select on this view shows why a task did not go to a queue. The view has one row for each task and queue of each
-- kept run. It has one row without a queue for a task that a rule or an error decided before any queue was looked at,
-- and for a task that was decided without locality.
create or replace view monitor.verdict as
select t.setup, t.run_id, r.algorithm, coalesce(x.profile, r.profile) as profile, r.dry, t.task_id, d.queue,
       case d.verdict when 'c' then 'candidate' when 'r' then 'rejected' when 'n' then 'not candidate' end as verdict,
       d.rank, d.weight, d.rule, w.criteria, w.reason, a.jobs, t.decided_at
  from brokerage.task_decision t  -- comes first, since decisions are indexed by run and task
  join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
  left join brokerage.trial x on x.setup = r.setup and x.trial = r.trial and t.arm = 'trial'
  join brokerage.decision d on d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id
 cross join lateral brokerage.split_reason(d.reason) w
  left join brokerage.assignment a on a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id
                                  and a.queue = d.queue
 where (t.setup = (select resource.bound_setup())) is not false
union all
select t.setup, t.run_id, r.algorithm, coalesce(x.profile, r.profile) as profile, r.dry, t.task_id, null,
       case when t.candidates + t.rejected > 0 then 'second pass' else t.status end,
       null, null, t.rule, null, t.reason, null, t.decided_at
  from brokerage.task_decision t
  join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
  left join brokerage.trial x on x.setup = r.setup and x.trial = r.trial and t.arm = 'trial'
 where t.reason is not null and (t.setup = (select resource.bound_setup())) is not false;

comment on view monitor.verdict is
  'Verdicts of each run for each task and queue: candidates with rank, weight and jobs assigned; rejections with '
  'rule, PanDA''s criteria tag and reason. A task for which no queue was examined has one row without a queue. A task '
  'that was decided without locality has such a row besides the others.';
comment on column monitor.verdict.profile is 'Profile that decided; in a trial, the one of the arm of the task.';
comment on column monitor.verdict.queue is
  'Queue, or pseudo-queue of a unified queue; null = the row is about the task as a whole.';
comment on column monitor.verdict.verdict is
  'Verdict on the queue: candidate, rejected, or not candidate (it never entered the list). Without a queue: '
  'throttled, failed, pending, error, or second pass (the task was decided once more, without locality).';
comment on column monitor.verdict.rule is
  'Rule that rejected the queue; without a queue, the rule that throttled or failed the task, or had it decided once '
  'more.';
comment on column monitor.verdict.criteria is 'PanDA''s criteria tag of the rejection; null = none.';
comment on column monitor.verdict.reason is 'Reason, with the numbers compared; or the error.';
comment on column monitor.verdict.jobs is 'Jobs of the task assigned to the queue.';
