-- See network.md, express-network-threshold. The comparison has an absolute tolerance of 1e-12 (conventions.md, Exact
-- arithmetic).
create or replace function brokerage.rule_express_network_threshold(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.is_express(t, q, p, null)
         and brokerage.weight_network(t, q, p) < t.nw_threshold * t.nw_weight_multiplier - 1e-12
    then format('network weight is %s, express needs %s', brokerage.weight_network(t, q, p),
                t.nw_threshold * t.nw_weight_multiplier)
  end
$$;

comment on function brokerage.rule_express_network_threshold(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'express-network-threshold: express tasks need a good network to the nucleus.';
