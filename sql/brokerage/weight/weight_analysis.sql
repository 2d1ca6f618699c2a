-- See analysis-weights.md, weight. This is the original basic weight.
create or replace function brokerage.weight_analysis(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select (brokerage.running_workers(t, q, p) + 1)::float8 / (brokerage.queued_of_share(t, q, p) + 1)
$$;

comment on function brokerage.weight_analysis(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'weight of analysis: (running + 1) / (activated + assigned + starting + defined + 1).';
