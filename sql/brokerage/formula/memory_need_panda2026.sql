-- facts-and-formulas.md, memory-need: base memory counts only if R is per core; the result is truncated.
create or replace function brokerage.memory_need_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select trunc(0.9::float8 * case when t.ram_per_core and t.is_merging is not true then brokerage.memory_use(t, q, p)
                                  else t.ram_count end)
$$;

comment on function brokerage.memory_need_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Memory that a job of the task needs in a slot of the queue (MB), as PanDA''s code compares it; null or 0 = not '
  'known.';
