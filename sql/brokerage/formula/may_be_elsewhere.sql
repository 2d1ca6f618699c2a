-- brokerage-doc-profile 3, task-locality-disable (D-08: panda2026 asks the current priority; D-09: its
-- period drops the check as a whole).
create or replace function brokerage.may_be_elsewhere(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns boolean
language sql stable parallel safe
as $$
  select (t.io_intensity is null or t.io_intensity <= t.min_io_intensity_with_local_data)
         and t.located_bytes <= t.min_input_size_with_local_data * 1073741824
         or case when (x ->> 'current_priority')::boolean then t.current_priority
                 else t.task_priority end >= t.max_task_prio_with_local_data
$$;

comment on function brokerage.may_be_elsewhere(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Whether a task may go where its input is not, when no nucleus has it. Parameter current_priority: that counts, '
  'not the task''s own.';
