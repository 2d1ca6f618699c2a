-- What became of a task in each run, whether a queue was asked for it or not.
create or replace view monitor.task_decision as
select t.setup, t.run_id, r.algorithm, coalesce(x.profile, r.profile) as profile, r.trial,
       t.arm, r.dry, t.task_id, t.status, t.rule, t.reason, t.errcode,
       coalesce(t.retry_at, s.retry_at) as retry_at, t.candidates, t.rejected, t.not_candidates,
       (select sum(a.jobs)::bigint from brokerage.assignment a
         where a.setup = t.setup and a.run_id = t.run_id and a.task_id = t.task_id) as jobs,
       (select n.nucleus from brokerage.nucleus_assignment n
         where n.setup = t.setup and n.run_id = t.run_id and n.task_id = t.task_id) as nucleus,
       t.decided_at
  from brokerage.task_decision t
  join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
  left join brokerage.trial x on x.setup = r.setup and x.trial = r.trial and t.arm = 'trial'
  left join brokerage.task_state s on s.setup = t.setup and s.task_id = t.task_id and s.algorithm = r.algorithm
                                  and s.run_id = t.run_id
 where (t.setup = (select resource.bound_setup())) is not false;

comment on view monitor.task_decision is
  'What each run decided for each task: whether it has candidates, waits, was throttled or failed by a rule, '
  'or could not be evaluated, and why.';
comment on column monitor.task_decision.profile is 'Profile that decided; in a trial, the one of the arm.';
comment on column monitor.task_decision.trial is 'Trial in which the run was; null = none.';
comment on column monitor.task_decision.arm is
  'Arm of the trial, control or trial; null = no trial was under way.';
comment on column monitor.task_decision.rule is
  'Rule that throttled or failed the whole task, or had it decided once more, without locality (anal-loops); '
  'null = none.';
comment on column monitor.task_decision.reason is
  'Why it was throttled or failed, that it was decided without locality, or the error, in words.';
comment on column monitor.task_decision.retry_at is
  'When the task is brokered again: a pending one, and what a run throttled, failed or could not decide, '
  'as long as no later run took it.';
comment on column monitor.task_decision.jobs is 'Jobs of the task that the run assigned; null = none.';
comment on column monitor.task_decision.nucleus is
  'Nucleus that the run sent it to; null = none, or a later run has sent it elsewhere.';
