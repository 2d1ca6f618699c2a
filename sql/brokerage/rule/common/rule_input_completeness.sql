-- See production-candidates.md, input-completeness (panda2026). A task whose input is complete at no readable storage
-- fails as a whole.
create or replace function brokerage.rule_input_completeness(t brokerage.task_facts) returns text
language sql stable parallel safe as $$
  select t.input_problem
$$;

comment on function brokerage.rule_input_completeness(brokerage.task_facts) is
  'input-completeness: each input dataset must be complete, or nearly so, at some storage that can be read.';
