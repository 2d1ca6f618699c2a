-- after: brokerage.open_task, resource.setup_time
-- Tasks that are brokered now. The time comes from a view: who reads this one needs no right to call resource.clock.
create or replace view brokerage.due_task as
select t.setup, t.task_id, t.current_priority, t.jobs_left
  from brokerage.open_task t
  join resource.setup_time c on c.setup = t.setup
 where t.retry_at is null or t.retry_at <= c.now;

comment on view brokerage.due_task is 'Production tasks whose jobs are to be brokered now.';
comment on column brokerage.due_task.setup is 'Tenant.';
comment on column brokerage.due_task.task_id is 'Task.';
comment on column brokerage.due_task.current_priority is 'Priority now.';
comment on column brokerage.due_task.jobs_left is 'Jobs that are not assigned yet.';
