-- brokerage.task_due_state takes the time from a view, so a reader of this view needs no right to call resource.clock.
create or replace view brokerage.due_task as
select t.setup, t.algorithm, t.task_id, t.current_priority, t.jobs_left
  from brokerage.task_due_state t
 where t.not_open is null and not t.waits;

comment on view brokerage.due_task is
  'Tasks that a broker must decide now: the task for a nucleus, or its jobs for queues.';
