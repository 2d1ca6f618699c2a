-- Tasks that the job broker looks at: JEDI's statuses in which jobs are made, a nucleus chosen or none needed, the retry time over, jobs left to assign.
create or replace view brokerage.due_task as
select t.setup, t.task_id, t.current_priority, coalesce(d.jobs, 0) - coalesce(s.assigned_jobs, 0) as jobs_left
  from workload.task t
  left join workload.input_digest d on d.setup = t.setup and d.task_id = t.task_id
  left join brokerage.task_state s on s.setup = t.setup and s.task_id = t.task_id
 where t.status in ('ready', 'scouting', 'running', 'pending')
   and coalesce(t.label, '') not in ('user', 'panda')
   and (s.task_id is null or coalesce(d.jobs, 0) > s.assigned_jobs)
   and (s.retry_at is null or s.retry_at <= resource.clock(t.setup));

comment on view brokerage.due_task is 'Production tasks whose jobs are to be brokered now.';
comment on column brokerage.due_task.setup is 'Tenant.';
comment on column brokerage.due_task.task_id is 'Task.';
comment on column brokerage.due_task.current_priority is 'Priority now.';
comment on column brokerage.due_task.jobs_left is 'Jobs that are not assigned yet.';
