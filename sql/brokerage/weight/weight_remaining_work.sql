-- See task-weights.md, task-weight-rw: 1 / max(50, RW of tasks of the share with at least the priority).
-- little_counts_1: below 50 it is 1.
create or replace function brokerage.weight_remaining_work(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns float8
language sql stable parallel safe as $$
  select case
    when p.is_preassigned then null
    when (x ->> 'little_counts_1')::boolean and p.remaining_work < 50 then 1
    else 1 / greatest(p.remaining_work, 50)
  end
$$;

comment on function brokerage.weight_remaining_work(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'task-weight-rw: the less work is left at the nucleus for tasks of this priority, the better. Parameter '
  'little_counts_1 (boolean).';
