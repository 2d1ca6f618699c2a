-- See task-weights.md, task-weight-rw. The weight is 1 / max(50, RW), where RW is the remaining work of tasks of the
-- share with at least the same priority. With little_counts_1 the weight is 1 if RW is below 50.
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
  'task-weight-rw: a nucleus with less remaining work for tasks of this priority has a higher weight. Parameter '
  'little_counts_1 (boolean).';
