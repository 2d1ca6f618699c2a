-- See network.md, network-weight. The weight applies only if NW_ACTIVE is set.
create or replace function brokerage.weight_network_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case when t.nw_active then brokerage.network_weight_panda2026(t, q, p) else 1 end
$$;

comment on function brokerage.weight_network_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'network-weight of panda2026: the weight of the link from the queue to the nucleus, or 1 if network weights are not '
  'active.';
