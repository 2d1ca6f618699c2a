-- See production-weights.md, arch-preference-weight.
create or replace function brokerage.weight_architecture(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select 1 + coalesce(p.platform_level_percent, 0) / 100
$$;

comment on function brokerage.weight_architecture(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'arch-preference-weight: more for queues with many CPUs at the architecture level that the task prefers.';
