create or replace view monitor.instance_job as
select j.setup, j.job_id, j.task_id, j.queue, j.taskqueue_job_id, j.state, j.cpu, j.ram, j.cpu_expression,
       j.ram_expression, j.inputs, j.instance_type, j.instance_id, j.reason, j.placed_at, j.ended_at
  from instance.job j;

comment on view monitor.instance_job is 'Jobs that are packed onto instances: what each needs, where it is, and why.';
comment on column monitor.instance_job.setup is 'Tenant.';
comment on column monitor.instance_job.job_id is 'Number of the job.';
comment on column monitor.instance_job.task_id is 'Task; null = none.';
comment on column monitor.instance_job.queue is 'PanDA queue of kind cloud that it waits at; null = none.';
comment on column monitor.instance_job.taskqueue_job_id is 'Job of TaskQueues that it stands for; null = none.';
comment on column monitor.instance_job.state is 'waiting, placed, finished, cancelled or unschedulable.';
comment on column monitor.instance_job.cpu is 'Cores that it needs; null = not known yet.';
comment on column monitor.instance_job.ram is 'Memory that it needs (MB); null = not known yet.';
comment on column monitor.instance_job.cpu_expression is
  'Cores as an expression of inputs; null = a number was given, or nothing.';
comment on column monitor.instance_job.ram_expression is
  'Memory (MB) as an expression of inputs; null = a number was given, or nothing.';
comment on column monitor.instance_job.inputs is 'Inputs that are known.';
comment on column monitor.instance_job.instance_type is 'Type that its instance must have; null = any that fits.';
comment on column monitor.instance_job.instance_id is 'Instance that it is on, or was on when it ended; null = none.';
comment on column monitor.instance_job.reason is 'Why it is placed there, waits, or is unschedulable.';
comment on column monitor.instance_job.placed_at is 'When it was placed.';
comment on column monitor.instance_job.ended_at is 'When it finished or was cancelled.';
