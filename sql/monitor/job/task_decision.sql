-- The view has the decision on a task in each run, whether or not a queue was examined for it.
create or replace view monitor.task_decision as
select t.setup, t.run_id, r.algorithm, coalesce(x.profile, r.profile) as profile, r.trial,
       t.arm, r.dry, t.task_id, t.status, t.rule, t.reason, t.errcode,
       coalesce(t.retry_at, s.retry_at) as retry_at, t.candidates, t.rejected, t.not_candidates,
       (select sum(a.jobs)::bigint from brokerage.assignment a
         where a.setup = t.setup and a.run_id = t.run_id and a.task_id = t.task_id) as jobs,
       (select n.nucleus from brokerage.nucleus_assignment n
         where n.setup = t.setup and n.run_id = t.run_id and n.task_id = t.task_id) as nucleus,
       t.decided_at, t.changes
  from brokerage.task_decision t
  join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
  left join brokerage.trial x on x.setup = r.setup and x.trial = r.trial and t.arm = 'trial'
  left join brokerage.task_state s on s.setup = t.setup and s.task_id = t.task_id and s.algorithm = r.algorithm
                                  and s.run_id = t.run_id
 where (t.setup = (select resource.bound_setup())) is not false;

comment on view monitor.task_decision is
  'Decisions of each run for each task: whether the task has candidates, waits, was throttled or failed by a rule, or '
  'could not be evaluated, and the reason.';
comment on column monitor.task_decision.profile is 'Profile that decided; in a trial, the profile of the arm.';
comment on column monitor.task_decision.trial is 'Trial that the run was part of; null = no trial.';
comment on column monitor.task_decision.arm is 'Arm of the trial, control or trial; null = no trial was active.';
comment on column monitor.task_decision.rule is
  'Rule that throttled or failed the whole task, or had it decided once more, without locality (anal-loops); null = no '
  'rule.';
comment on column monitor.task_decision.reason is
  'Reason in words: why it was throttled or failed, that it was decided without locality, or the error.';
comment on column monitor.task_decision.retry_at is
  'When the task is brokered again, if it is pending or was throttled, failed or not decided by this run, and no later '
  'run has taken it.';
comment on column monitor.task_decision.jobs is 'Jobs of the task that the run assigned; null = no job.';
comment on column monitor.task_decision.nucleus is
  'Nucleus that the run sent the task to; null = no nucleus, or a later run has sent it elsewhere.';
