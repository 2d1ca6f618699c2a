-- See production-weights.md, min-weight. The rule comes after all others; a bootstrap queue has weight 0 and is exempt.
-- In analysis (analysis-weights.md, min-weight) a remaining pre-assigned queue is also exempt.
create or replace function brokerage.rule_min_weight(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when t.min_weight > 0 and p.weight <> 0 and p.weight < t.min_weight
         and not ((x ->> 'spares_preassigned')::boolean is true and p.is_preassigned is true)
    then format('weight is %s, MIN_WEIGHT is %s', p.weight, t.min_weight)
  end
$$;

comment on function brokerage.rule_min_weight(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'min-weight: the weight is at least MIN_WEIGHT of the label and share. Parameter spares_preassigned (boolean): a '
  'pre-assigned queue is exempt.';
