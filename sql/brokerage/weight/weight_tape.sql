-- See task-weights.md, task-weight-tape. The weight is a thousandth if tape and disk together hold more of the input
-- than disk alone.
create or replace function brokerage.weight_tape(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns float8
language sql stable parallel safe as $$
  select case
    when p.is_preassigned then null
    when p.located_bytes > p.located_disk_bytes and not brokerage.needs_no_data_weight(t, q, p, x) then 0.001::float8
    else 1
  end
$$;

comment on function brokerage.weight_tape(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'task-weight-data: a thousandth if input has to be staged from tape, else 1.';
