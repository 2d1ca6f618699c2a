-- conventions.md, Missing values: a core count of null or 0 counts as 1. conventions.md, Job counts: a pseudo-queue
-- has its own core count.
create or replace function brokerage.slot_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns int
language sql stable parallel safe as $$
  select greatest(coalesce(q.corecount, 1), 1)
$$;

comment on function brokerage.slot_cores(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Cores of a slot of the queue or pseudo-queue, at least 1.';
