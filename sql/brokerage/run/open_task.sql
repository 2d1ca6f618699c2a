-- Tasks that the job broker works on: JEDI's statuses in which jobs are made, with jobs left to assign. Those that wait for their retry time are among them.
create or replace view brokerage.open_task as
select t.setup, t.task_id, t.current_priority, coalesce(d.jobs, 0) - coalesce(s.assigned_jobs, 0) as jobs_left, s.retry_at
  from workload.task t
  left join workload.input_digest d on d.setup = t.setup and d.task_id = t.task_id
  left join brokerage.task_state s on s.setup = t.setup and s.task_id = t.task_id
 where t.status in ('ready', 'scouting', 'running', 'pending')
   and coalesce(t.label, '') not in ('user', 'panda')
   and (s.task_id is null or s.retry_at is not null or coalesce(d.jobs, 0) > s.assigned_jobs);

comment on view brokerage.open_task is 'Production tasks whose jobs are not all assigned; what-if looks at them.';
comment on column brokerage.open_task.setup is 'Tenant.';
comment on column brokerage.open_task.task_id is 'Task.';
comment on column brokerage.open_task.current_priority is 'Priority now.';
comment on column brokerage.open_task.jobs_left is 'Jobs that are not assigned yet.';
comment on column brokerage.open_task.retry_at is 'It found nothing and waits until then; null = it does not wait.';
