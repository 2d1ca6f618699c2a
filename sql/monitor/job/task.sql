-- Tasks as an operator lists them.
create or replace view monitor.task as
select t.setup, t.task_id, t.status, t.label, t.gshare, t.user_name, t.current_priority as priority, t.nucleus,
       s.jobs, s.jobs_left, s.not_due
  from workload.task t
  join brokerage.task_standing s
    on s.setup = t.setup and s.task_id = t.task_id
   and s.algorithm = case when t.label in ('user', 'panda') then 'analysis_job' else 'production_job' end;

comment on view monitor.task is 'Tasks with their status, their jobs, and why no broker takes their jobs now.';
comment on column monitor.task.status is 'Status in JEDI; null = not known.';
comment on column monitor.task.priority is 'Current priority.';
comment on column monitor.task.jobs_left is 'Jobs that are not assigned yet.';
