-- See production-filters.md, memory.
create or replace function brokerage.rule_memory_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.ram_count is null or t.ram_count = 0 then null
    when brokerage.memory_need_panda2026(t, q, p) > nullif(q.maxrss, 0)
    then format('-lowmemory: needs %s MB, maxrss is %s', brokerage.memory_need_panda2026(t, q, p), q.maxrss)
    when brokerage.memory_need_panda2026(t, q, p) < nullif(q.minrss, 0)
    then format('-highmemory: needs %s MB, minrss is %s', brokerage.memory_need_panda2026(t, q, p), q.minrss)
  end
$$;

comment on function brokerage.rule_memory_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'memory of panda2026: nine tenths of the memory of a job, in whole MB, lie between minrss and maxrss of the queue.';
