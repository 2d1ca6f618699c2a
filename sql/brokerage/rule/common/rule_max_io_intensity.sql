-- See production-filters.md, max-io-intensity.
create or replace function brokerage.rule_max_io_intensity(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.is_merging is not true and t.io_intensity > q.max_io_intensity
    then format('ioIntensity is %s, max_io_intensity of the queue is %s', t.io_intensity, q.max_io_intensity)
  end
$$;

comment on function brokerage.rule_max_io_intensity(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'max-io-intensity: the task''s ioIntensity is not over the queue''s limit (kB/s).';
