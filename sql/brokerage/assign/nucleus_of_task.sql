create or replace view brokerage.nucleus_of_task as
select a.setup, a.task_id, a.run_id, a.nucleus, a.probability, a.gshare, a.priority, a.work, a.assigned_at
  from brokerage.nucleus_assignment a;

comment on view brokerage.nucleus_of_task is 'Which nucleus the task broker sent a task to.';
comment on column brokerage.nucleus_of_task.setup is 'Tenant.';
comment on column brokerage.nucleus_of_task.task_id is 'Task.';
comment on column brokerage.nucleus_of_task.run_id is 'Run that decided.';
comment on column brokerage.nucleus_of_task.nucleus is 'Nucleus.';
comment on column brokerage.nucleus_of_task.probability is 'How probable the choice was, 0 to 1.';
comment on column brokerage.nucleus_of_task.gshare is 'Global share of the task.';
comment on column brokerage.nucleus_of_task.priority is 'Current priority of the task then.';
comment on column brokerage.nucleus_of_task.work is 'CPU time that its events need (HS06 s).';
comment on column brokerage.nucleus_of_task.assigned_at is 'When (resource.clock).';
