-- A broker works on these tasks, even while they wait for their retry time.
create or replace view brokerage.open_task as
select t.setup, t.algorithm, t.task_id, t.current_priority, t.jobs_left, t.retry_at
  from brokerage.task_due_state t
 where t.not_open is null;

comment on view brokerage.open_task is
  'Tasks without a nucleus (production_task), or with jobs that are not assigned; what-if uses them.';
