-- See task-brokerage.md, task-locality-period. The condition on the parameter comes first: without the parameter, or
-- for a task that is not frozen, the subtraction costs nothing.
create or replace function brokerage.needs_no_data_weight(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns boolean
language sql stable parallel safe as $$
  select coalesce(
    (x ->> 'period')::boolean is true and t.frozen is not null
    and t.frozen < t.now - t.data_location_check_period * interval '24 hours', false)
$$;

comment on function brokerage.needs_no_data_weight(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Whether the data terms of the weight are dropped because the task has been frozen for longer than '
  'DATA_LOCATION_CHECK_PERIOD (parameter period).';
