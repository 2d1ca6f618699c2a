-- brokerage-doc-profile, anal-loops. Without input, or where locality is not asked for, a second pass decides the same.
create or replace function brokerage.rule_anal_loops(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select case when not brokerage.needs_no_input_there(t) then 'persistent' end
$$;

comment on function brokerage.rule_anal_loops(brokerage.task_facts) is
  'anal-loops: a task is decided once more, without anal-locality, where every candidate fell to a persistent rule.';
