create or replace view monitor.instance_step as
select s.setup, s.step_id, s.task_id, s.queue, s.job_id, s.state, s.cpu, s.ram, s.cpu_expression,
       s.ram_expression, s.inputs, s.instance_type, s.instance_id, s.reason, s.placed_at, s.ended_at
  from instance.step s;

comment on view monitor.instance_step is 'Steps that are packed onto instances: what each needs, where it is, and why.';
comment on column monitor.instance_step.setup is 'Tenant.';
comment on column monitor.instance_step.step_id is 'Number of the step.';
comment on column monitor.instance_step.task_id is 'Task; null = none.';
comment on column monitor.instance_step.queue is 'PanDA queue of kind cloud that the step waits for; null = none.';
comment on column monitor.instance_step.job_id is 'Job of a TaskQueue that the step stands for; null = none.';
comment on column monitor.instance_step.state is 'waiting, placed, finished, cancelled or unschedulable.';
comment on column monitor.instance_step.cpu is 'Cores that the step needs; null = not known yet.';
comment on column monitor.instance_step.ram is 'Memory that the step needs (MB); null = not known yet.';
comment on column monitor.instance_step.cpu_expression is
  'Cores as an expression of inputs; null = a number was given, or nothing.';
comment on column monitor.instance_step.ram_expression is
  'Memory (MB) as an expression of inputs; null = a number was given, or nothing.';
comment on column monitor.instance_step.inputs is 'Inputs that are known.';
comment on column monitor.instance_step.instance_type is
  'Hint: the type that its instance must have; null = any that fits.';
comment on column monitor.instance_step.instance_id is
  'Instance that the step is on, or was on when it ended; null = none.';
comment on column monitor.instance_step.reason is 'Why the step is placed there, waits, or is unschedulable.';
comment on column monitor.instance_step.placed_at is 'When the step was placed.';
comment on column monitor.instance_step.ended_at is 'When the step finished or was cancelled.';
