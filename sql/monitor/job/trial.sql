create or replace view monitor.trial as
select t.setup, t.trial, t.profile, t.control, t.share, t.began_at, t.began_by, t.ended_at, t.ended_by,
       coalesce(c.control_tasks, 0) as control_tasks, coalesce(c.trial_tasks, 0) as trial_tasks
  from brokerage.trial t
  left join lateral (
    select count(distinct d.task_id) filter (where d.arm = 'control') as control_tasks,
           count(distinct d.task_id) filter (where d.arm = 'trial') as trial_tasks
      from brokerage.run r
      join brokerage.task_decision d on d.setup = r.setup and d.run_id = r.run_id
     where r.setup = t.setup and r.trial = t.trial and not r.dry) c on true
 where (t.setup = (select resource.bound_setup())) is not false;

comment on view monitor.trial is
  'Trials, in which another profile decides a fraction of the tasks of a setup. monitor.trial_outcome compares the '
  'arms.';
comment on column monitor.trial.control_tasks is
  'Tasks that real runs decided by the profile of the setup, in runs that are kept.';
comment on column monitor.trial.trial_tasks is
  'Tasks that real runs decided by the other profile, in runs that are kept.';
