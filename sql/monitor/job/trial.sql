create or replace view monitor.trial as
select t.setup, t.trial, t.profile, t.control, t.share, t.begun_at, t.begun_by, t.ended_at, t.ended_by,
       coalesce(c.control_tasks, 0) as control_tasks, coalesce(c.trial_tasks, 0) as trial_tasks
  from brokerage.trial t
  left join (select d.setup, r.trial, count(distinct d.task_id) filter (where d.arm = 'control') as control_tasks,
                    count(distinct d.task_id) filter (where d.arm = 'trial') as trial_tasks
               from brokerage.run r
               join brokerage.task_decision d on d.setup = r.setup and d.run_id = r.run_id
              where r.trial is not null and not r.dry
              group by d.setup, r.trial) c on c.setup = t.setup and c.trial = t.trial;

comment on view monitor.trial is
  'Trials: a share of the tasks of a setup is decided by another profile. monitor.trial_outcome compares.';
comment on column monitor.trial.control_tasks is 'Tasks that real runs decided by the profile of the setup.';
comment on column monitor.trial.trial_tasks is 'Tasks that real runs decided by the other profile.';
