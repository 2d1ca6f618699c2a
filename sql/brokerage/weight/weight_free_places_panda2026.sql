-- See analysis-weights.md, new-weight-of-the-server. The terms are the same, but the factor differs.
create or replace function brokerage.weight_free_places_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns float8[]
language sql stable parallel safe as $$
  select brokerage.weight_free_places(t, q, p, x)
$$;

comment on function brokerage.weight_free_places_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Terms of the new basic weight of panda2026: those of brokerage.weight_free_places.';
