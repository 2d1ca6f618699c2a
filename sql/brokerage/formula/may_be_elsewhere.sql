-- task-brokerage.md, task-locality-disable: panda2026 compares the current priority.
create or replace function brokerage.may_be_elsewhere(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns boolean
language sql stable parallel safe as $$
  select (t.io_intensity is null or t.io_intensity <= t.min_io_intensity_with_local_data)
         and t.located_bytes <= t.min_input_size_with_local_data * 1073741824
         or case when (x ->> 'current_priority')::boolean then t.current_priority
                 else t.task_priority end >= t.max_task_prio_with_local_data
$$;

comment on function brokerage.may_be_elsewhere(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Whether a task may go to a nucleus without its input if no nucleus has the input. Parameter current_priority '
  '(boolean): the current priority counts, not the task''s own.';
