-- brokerage-rules 1.1, task-input-scan (D-03); a task with its nucleus is not looked at.
create or replace function brokerage.rule_task_input_scan(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select case when not t.is_preset then t.input_problem end
$$;

comment on function brokerage.rule_task_input_scan(brokerage.task_facts) is
  'task-input-scan: each input dataset is complete somewhere where it can be read over WAN.';
