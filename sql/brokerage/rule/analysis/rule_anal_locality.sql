-- See analysis-candidates.md, anal-locality. PanDA's code always tries with locality first.
create or replace function brokerage.rule_anal_locality(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when t.second_pass or (x ->> 'may_be_suppressed')::boolean and brokerage.needs_no_input_there(t) then null
    else p.input_problem
  end
$$;

comment on function brokerage.rule_anal_locality(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'anal-locality: all of the input is at the queue; the rule does not apply in a second pass. Parameter '
  'may_be_suppressed (boolean): nor does it apply to tasks of high priority or low ioIntensity.';
