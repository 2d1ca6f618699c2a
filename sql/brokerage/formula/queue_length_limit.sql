-- analysis-load.md, stabilizer.
create or replace function brokerage.queue_length_limit(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns numeric
language sql stable parallel safe as $$
  select greatest(
    t.base_queue_length_per_pq::numeric,
    t.static_max_queue_running_ratio::numeric * p.users_running,
    t.max_expected_wait_hour::numeric * p.to_running_rate::numeric)
$$;

comment on function brokerage.queue_length_limit(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'nQ_max, the number of jobs of the share that may be queued there.';
