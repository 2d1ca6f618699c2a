create or replace view brokerage.nucleus_of_task as
select a.setup, a.task_id, a.run_id, a.nucleus, a.probability, a.gshare, a.priority, a.work, a.assigned_at
  from brokerage.nucleus_assignment a
 where (a.setup = (select resource.bound_setup())) is not false;

comment on view brokerage.nucleus_of_task is 'The nucleus to which the task broker sent a task.';
