-- See production-filters.md, max-core-count. The rule applies if both numbers are set.
create or replace function brokerage.rule_max_core_count(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when t.max_core_count <> 0 and q.corecount > t.max_core_count
    then format('corecount is %s, maxCoreCount of the task is %s', q.corecount, t.max_core_count)
  end
$$;

comment on function brokerage.rule_max_core_count(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'max-core-count: the queue has no more cores than the task allows. Parameter spares_preassigned_alone (boolean).';
