create or replace view monitor.instance_step as
select s.setup, s.step_id, s.task_id, s.queue, s.job_id, s.state, s.cpu, s.ram, s.cpu_expression,
       s.ram_expression, s.inputs, s.instance_type, s.instance_id, s.reason, s.placed_at, s.ended_at
  from instance.step s
 where (s.setup = (select resource.bound_setup())) is not false;

comment on view monitor.instance_step is
  'Steps that are packed onto instances: the needs of each step, its instance, and the reason for its state.';
