-- Tasks are independent, but the jobs of a task are not: a value is a ratio of two sums over tasks, and its margin
-- comes from the spread of the tasks around that ratio. A job belongs to the decision that made it, which has the same
-- time. Long because it is one query.
create or replace view monitor.trial_outcome as
with decision as not materialized (
  select r.setup, r.trial, r.algorithm, d.arm, d.task_id, d.run_id, d.status, d.decided_at
    from brokerage.run r
    join brokerage.task_decision d on d.setup = r.setup and d.run_id = r.run_id
   where r.trial is not null and not r.dry and d.arm is not null
     and (r.setup = (select resource.bound_setup())) is not false
), job as (
  select d.setup, d.trial, d.arm, d.task_id, j.status, j.ended, extract(epoch from j.started - j.created) as waited,
         extract(epoch from j.ended - j.started) as walltime
    from decision d
    join workload.job j on j.setup = d.setup and j.task_id = d.task_id and j.created = d.decided_at
   where d.algorithm <> 'production_task' and d.status = 'candidates'
), figure as (  -- one row per task: amount and total
  select d.setup, d.trial, d.arm, d.task_id, 1 as place, 'no candidates' as measure, 'share of decisions' as unit,
         count(*) filter (where d.status <> 'candidates')::float8 as amount, count(*)::float8 as total
    from decision d
   group by d.setup, d.trial, d.arm, d.task_id
  union all
  select d.setup, d.trial, d.arm, d.task_id, 2, 'remote input', 'share of input', sum(a.jobs * a.remote),
         sum(a.jobs)::float8
    from decision d
    join brokerage.assignment a on a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id
   where a.remote is not null
   group by d.setup, d.trial, d.arm, d.task_id
  union all
  select j.setup, j.trial, j.arm, j.task_id, m.place, m.measure, m.unit, m.amount, m.total
    from (select j.setup, j.trial, j.arm, j.task_id, count(*) as jobs,
                 count(*) filter (where j.waited is null and j.ended is null) as waiting,
                 count(j.waited) as started, coalesce(sum(j.waited), 0) as waited,
                 count(*) filter (where j.status = 'failed') as failed,
                 count(*) filter (where j.status in ('failed', 'finished')) as done,
                 coalesce(sum(j.walltime) filter (where j.status in ('failed', 'closed')), 0) as lost,
                 coalesce(sum(j.walltime) filter (where j.status in ('failed', 'closed', 'finished')), 0) as walltime
            from job j
           group by j.setup, j.trial, j.arm, j.task_id) j
   cross join lateral (
     values (3, 'not started', 'share of jobs', j.waiting::float8, j.jobs::float8),
            (4, 'wait to start', 's', j.waited::float8, j.started::float8),
            (5, 'failures', 'share of ended jobs', j.failed::float8, j.done::float8),
            (6, 'walltime lost', 'share of walltime', j.lost::float8,
             j.walltime::float8)) m(place, measure, unit, amount, total)
), spread as (
  select f.*, sum(f.amount) over w / sum(f.total) over w as value
    from figure f
   where f.total > 0
  window w as (partition by f.setup, f.trial, f.place, f.arm)
), arm as (
  select s.setup, s.trial, s.place, s.measure, s.unit, s.arm, count(*) as tasks, min(s.value) as value,
         count(*) / nullif(count(*) - 1, 0)::float8 * sum((s.amount - s.value * s.total) ^ 2)
         / sum(s.total) ^ 2 as variance
    from spread s
   group by s.setup, s.trial, s.place, s.measure, s.unit, s.arm
), pair as (
  select a.setup, a.trial, a.place, a.measure, a.unit,
         coalesce(max(a.tasks) filter (where a.arm = 'control'), 0) as control_tasks,
         max(a.value) filter (where a.arm = 'control') as control_value,
         max(a.variance) filter (where a.arm = 'control') as control_variance,
         coalesce(max(a.tasks) filter (where a.arm = 'trial'), 0) as trial_tasks,
         max(a.value) filter (where a.arm = 'trial') as trial_value,
         max(a.variance) filter (where a.arm = 'trial') as trial_variance
    from arm a
   group by a.setup, a.trial, a.place, a.measure, a.unit
), compared as (
  select p.*, p.trial_value - p.control_value as difference,
         sqrt(p.control_variance + p.trial_variance)
         * brokerage.student_t_bound((p.control_variance + p.trial_variance) ^ 2
                                     / nullif(p.control_variance ^ 2 / (p.control_tasks - 1)
                                              + p.trial_variance ^ 2 / (p.trial_tasks - 1), 0)) as difference_margin
    from pair p
)
select c.setup, c.trial, c.place, c.measure, c.unit, c.control_tasks, c.control_value,
       brokerage.student_t_bound(nullif(c.control_tasks, 0) - 1) * sqrt(c.control_variance) as control_margin,
       c.trial_tasks, c.trial_value,
       brokerage.student_t_bound(nullif(c.trial_tasks, 0) - 1) * sqrt(c.trial_variance) as trial_margin,
       c.difference, c.difference_margin,
       case when c.difference_margin is not null
                 and abs(c.difference) > greatest(c.difference_margin, 1e-9 * greatest(c.control_value, c.trial_value))
            then case when c.difference < 0 then 'lower' else 'higher' end
            else 'not shown' end as verdict
  from compared c;

comment on view monitor.trial_outcome is
  'Outcome of the tasks of a trial by arm, one row per measure: the value in both arms and the difference, each with '
  'the margin of its 90 % interval (by task, Student''s t). A low value is good in all measures. Both arms share the '
  'queues, so a gain of one arm may be a loss of the other. Jobs and decisions count as long as they are kept.';
comment on column monitor.trial_outcome.trial is 'Number of the trial (monitor.trial).';
comment on column monitor.trial_outcome.place is 'Place in the order of the measures.';
comment on column monitor.trial_outcome.measure is
  'no candidates: decisions after which the task had no queue or nucleus (pending, throttled, failed, error). remote '
  'input: fraction of a task''s input that was not on disk at the queue when a job was assigned, by job. not started: '
  'jobs that neither started nor ended. wait to start: time from the assignment to the start, for jobs that started. '
  'failures: failed jobs among failed and finished jobs. walltime lost: walltime of failed jobs, and of jobs that were '
  'closed to run elsewhere.';
comment on column monitor.trial_outcome.unit is 'Unit of the values.';
comment on column monitor.trial_outcome.control_tasks is 'Tasks of the arm control that have the measure.';
comment on column monitor.trial_outcome.control_value is 'Value in the arm control.';
comment on column monitor.trial_outcome.control_margin is 'Half of its 90 % interval; null = fewer than two tasks.';
comment on column monitor.trial_outcome.trial_tasks is 'Tasks of the arm trial that have the measure.';
comment on column monitor.trial_outcome.trial_value is 'Value in the arm trial.';
comment on column monitor.trial_outcome.trial_margin is 'Half of its 90 % interval; null = fewer than two tasks.';
comment on column monitor.trial_outcome.difference is 'Value in the arm trial minus the value in the arm control.';
comment on column monitor.trial_outcome.difference_margin is
  'Half of the 90 % interval of the difference (Welch); null = an arm has fewer than two tasks, or the tasks of each '
  'arm are all alike.';
comment on column monitor.trial_outcome.verdict is
  'Verdict: lower or higher if the interval of the difference is below or above 0; not shown if 0 is within it, or if '
  'there is no interval.';
