-- See network.md, express-network-threshold. The rule applies if NW_ACTIVE is true. As in documented, the comparison
-- has an absolute tolerance of 1e-12.
create or replace function brokerage.rule_express_network_threshold_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.nw_active and brokerage.is_express(t, q, p, '{"urgent_alone": true}')
         and brokerage.network_weight_panda2026(t, q, p) < t.nw_threshold * t.nw_weight_multiplier - 1e-12
    then format('network weight is %s, express needs %s', brokerage.network_weight_panda2026(t, q, p),
                t.nw_threshold * t.nw_weight_multiplier)
  end
$$;

comment on function brokerage.rule_express_network_threshold_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'express-network-threshold of panda2026: express tasks need a good network to the nucleus, if network weights are '
  'active.';
