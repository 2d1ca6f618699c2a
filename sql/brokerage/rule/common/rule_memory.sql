-- See production-filters.md, memory. 0.9 of the memory must lie between minrss and maxrss, which are limits of the
-- whole slot. The comparison is in tenths (conventions.md, Exact arithmetic).
create or replace function brokerage.rule_memory(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.ram_count is null or t.ram_count = 0 then null
    when 9 * brokerage.memory_use(t, q, p) > 10 * nullif(q.maxrss, 0)
    then format('-lowmemory: needs %s MB, maxrss is %s', 9 * brokerage.memory_use(t, q, p) / 10, q.maxrss)
    when 9 * brokerage.memory_use(t, q, p) < 10 * nullif(q.minrss, 0)
    then format('-highmemory: needs %s MB, minrss is %s', 9 * brokerage.memory_use(t, q, p) / 10, q.minrss)
  end
$$;

comment on function brokerage.rule_memory(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'memory: nine tenths of the memory of a job lie between minrss and maxrss of the queue.';
