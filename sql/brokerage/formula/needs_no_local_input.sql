-- See the data carousel in task-brokerage.md, task-locality-size; and task-brokerage.md, task-locality-period. The
-- subtraction costs nothing without the parameter, or for a task that is not frozen.
create or replace function brokerage.needs_no_local_input(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns boolean
language sql stable parallel safe as $$
  select p.is_preassigned or t.input_pre_staging and p.located_files >= 1
         or coalesce(
           (x ->> 'period')::boolean is true and t.frozen is not null
           and t.frozen < t.now - t.data_location_check_period * interval '24 hours', false)
$$;

comment on function brokerage.needs_no_local_input(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Whether the locality of input does not matter at a nucleus: some of it is there and the rest is staged, or, with '
  'the parameter period (boolean), the task has been frozen for longer than DATA_LOCATION_CHECK_PERIOD.';
