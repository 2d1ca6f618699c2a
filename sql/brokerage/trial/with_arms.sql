create or replace function brokerage.with_arms(
  p_setup text, p_trial bigint, p_tasks brokerage.task_facts[]
) returns brokerage.task_facts[]
language plpgsql stable as $$
declare
  v_task brokerage.task_facts;
  v_tasks brokerage.task_facts[] := '{}'::brokerage.task_facts[];
begin
  foreach v_task in array p_tasks loop
    v_task.arm := brokerage.arm_of(p_setup, p_trial, v_task.task_id);
    v_tasks := v_tasks || v_task;
  end loop;
  return v_tasks;
end $$;

comment on function brokerage.with_arms(text, bigint, brokerage.task_facts[]) is
  'Facts of tasks with their arms in a trial; if p_trial is null there is no arm.';
