-- See analysis-candidates.md, anal-loops. Without input, or if locality is not checked, a second pass would decide the
-- same.
create or replace function brokerage.rule_anal_loops(t brokerage.task_facts) returns text
language sql stable parallel safe as $$
  select case when not brokerage.needs_no_input_there(t) then 'persistent' end
$$;

comment on function brokerage.rule_anal_loops(brokerage.task_facts) is
  'anal-loops: a task is decided once more, without anal-locality, if a persistent rule rejected every candidate.';
