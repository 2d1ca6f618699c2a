-- Tasks that a broker works on, also while they wait for their retry time.
create or replace view brokerage.open_task as
select t.setup, t.algorithm, t.task_id, t.current_priority, t.jobs_left, t.retry_at
  from brokerage.task_standing t
 where t.not_open is null;

comment on view brokerage.open_task is
  'Tasks without a nucleus (production_task), or whose jobs are not all assigned; what-if looks at them.';
comment on column brokerage.open_task.setup is 'Tenant.';
comment on column brokerage.open_task.algorithm is 'The broker: production_task, production_job or analysis_job.';
comment on column brokerage.open_task.task_id is 'Task.';
comment on column brokerage.open_task.current_priority is 'Priority now.';
comment on column brokerage.open_task.jobs_left is 'Jobs that are not assigned yet.';
comment on column brokerage.open_task.retry_at is 'It found nothing and waits until then; null = it does not wait.';
