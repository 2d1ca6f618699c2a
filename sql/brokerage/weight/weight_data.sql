-- See production-weights.md, weight-data. All queues are equal if the task has no input.
create or replace function brokerage.weight_data(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case
    when t.input_bytes > 0
    then (coalesce(p.available_bytes, 0)::float8 + t.input_bytes)
         / (t.input_bytes::float8 * ((coalesce(t.input_files, 0) - coalesce(p.available_files, 0)) / 100::float8 + 1))
    else 1
  end
$$;

comment on function brokerage.weight_data(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'weight-data: (available + total size) / (total size * (missing files / 100 + 1)).';
