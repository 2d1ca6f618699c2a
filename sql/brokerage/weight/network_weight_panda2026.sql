-- network.md, queued-part: queuedWeight falls with the queued files divided by NQUEUED_SAT_CAP, without a lower bound.
-- network.md, throughput-part: the value above 50 MB/s is 1.6. If the cap is 0, only links without queued files reach
-- this function.
create or replace function brokerage.network_weight_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case
    when p.is_own then 2.5
    else t.nw_queue_importance
         * (2 - coalesce(brokerage.queued_on_link(t, q, p, '{"urgent_alone": true}') / nullif(t.nqueued_sat_cap, 0), 0))
         + (1 - t.nw_queue_importance) * brokerage.throughput_weight(t, q, p, 1.6)
  end
$$;

comment on function brokerage.network_weight_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Network weight as PanDA''s code computes it, whether or not network weights are active.';
