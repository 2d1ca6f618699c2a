-- See task-brokerage.md, task-input-scan. A task that has its nucleus is exempt.
create or replace function brokerage.rule_task_input_scan(t brokerage.task_facts) returns text
language sql stable parallel safe as $$
  select case when not t.is_preset then t.input_problem end
$$;

comment on function brokerage.rule_task_input_scan(brokerage.task_facts) is
  'task-input-scan: each input dataset is complete at some storage that can be read over WAN.';
