-- See network.md, network-weight: only if NW_ACTIVE.
create or replace function brokerage.weight_network_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case when t.nw_active then brokerage.network_weight_panda2026(t, q, p) else 1 end
$$;

comment on function brokerage.weight_network_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'network-weight of panda2026: that of the link from the queue to the nucleus, 1 where network weights are not '
  'active.';
