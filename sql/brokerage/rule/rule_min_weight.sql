-- brokerage-rules 1.2, min-weight: behind all others; a bootstrap has weight 0 and is exempt.
create or replace function brokerage.rule_min_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.min_weight > 0 and p.weight <> 0 and p.weight < t.min_weight then format('weight is %s, MIN_WEIGHT is %s', p.weight, t.min_weight)
  end
$$;

comment on function brokerage.rule_min_weight(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'min-weight: the weight is at least MIN_WEIGHT of the label and share.';
