-- See network.md, network-weight. queuedWeight, which falls from 2 to 1 at 300 files, and throughputWeight each make up
-- one half; own queues have 2.5.
create or replace function brokerage.weight_network(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case
    when p.is_own then 2.5
    else 0.5
         * (2 - least(brokerage.queued_on_link(t, q, p, null), 300) / 300 + brokerage.throughput_weight(t, q, p, 1.7))
  end
$$;

comment on function brokerage.weight_network(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'network-weight: 0.5 * (queuedWeight + throughputWeight) of the link from the queue to the nucleus.';
