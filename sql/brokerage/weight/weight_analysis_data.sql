-- See analysis-weights.md, weight-data. The weight counts datasets with a complete copy; if no queue has all of the
-- input, it grows with the available part in whole GB.
create or replace function brokerage.weight_analysis_data(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case
    when t.second_pass is not true and p.input_copies is not null then p.input_copies
    when p.available_bytes >= 1073741824 then 1 + trunc(p.available_bytes / 1073741824::float8) / 10
    else 1 + trunc((coalesce(p.reachable_bytes, 0) - coalesce(p.available_bytes, 0)) / 1073741824::float8) / 1000
  end
$$;

comment on function brokerage.weight_analysis_data(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'weight-data of analysis in panda2026: 1 for each dataset on disk, 0.001 on tape; in a pass without locality the '
  'weight grows with the GB available.';
