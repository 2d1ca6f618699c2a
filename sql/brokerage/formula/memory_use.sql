-- facts-and-formulas.md, memory-need: base + R * cores if R is per core, base + R if R is per job, R for merge jobs.
create or replace function brokerage.memory_use(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns float8
language sql stable parallel safe as $$
  select case when t.is_merging then 0 else coalesce(t.base_ram_count, 0) end
         + t.ram_count * case when t.ram_per_core and t.is_merging is not true then brokerage.slot_cores(t, q, p)
                              else 1 end
$$;

comment on function brokerage.memory_use(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Memory of a job of the task in a slot of the queue (MB), before compensation; null or 0 = not known.';
