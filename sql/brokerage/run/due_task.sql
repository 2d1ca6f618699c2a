-- Tasks that are brokered now. brokerage.task_standing takes the time from a view: a reader of this view needs no
-- right to call resource.clock.
create or replace view brokerage.due_task as
select t.setup, t.algorithm, t.task_id, t.current_priority, t.jobs_left
  from brokerage.task_standing t
 where t.not_open is null and not t.waits;

comment on view brokerage.due_task is 'Tasks that a broker is to take now: for a nucleus, or their jobs for queues.';
comment on column brokerage.due_task.setup is 'Tenant.';
comment on column brokerage.due_task.algorithm is 'The broker: production_task, production_job or analysis_job.';
comment on column brokerage.due_task.task_id is 'Task.';
comment on column brokerage.due_task.current_priority is 'Priority now.';
comment on column brokerage.due_task.jobs_left is 'Jobs that are not assigned yet.';
