-- See production-filters.md, t1-weight. The rule applies to t1Weight -1 and jobs that do not merge; in panda2026 to any
-- negative t1Weight.
create or replace function brokerage.rule_t1_weight(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when (t.t1_weight = -1 or (x ->> 'negative')::boolean and t.t1_weight < 0) and t.is_merging is not true
         and p.is_near is not true
    then format('t1Weight is %s: only queues of %s', t.t1_weight, coalesce(t.nucleus, 'the nucleus'))
  end
$$;

comment on function brokerage.rule_t1_weight(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  't1-weight: a task with t1Weight -1 stays at the nucleus; merging is exempt. Parameter negative (boolean): the rule '
  'applies to any weight below 0.';
