-- See task-weights.md, task-weight-data. The weight is local input divided by all input, if ioIntensity is high (null
-- counts as high) and there is input.
create or replace function brokerage.weight_located_data(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns float8
language sql stable parallel safe as $$
  select case
    when p.is_preassigned then null
    when t.located_bytes > 0 and coalesce(t.io_intensity > t.min_io_intensity_with_local_data, true)
         and not brokerage.needs_no_data_weight(t, q, p, x)
    then p.located_bytes::float8 / t.located_bytes
    else 1
  end
$$;

comment on function brokerage.weight_located_data(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'task-weight-data: the fraction of the input that is at the nucleus, if ioIntensity is over '
  'MIN_IO_INTENSITY_WITH_LOCAL_DATA.';
