-- conventions.md, Job counts: disk-io and scratch-disk compare the limits of the unified queue.
create or replace function brokerage.whole_queue_cores(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns int
language sql stable parallel safe as $$
  select greatest(coalesce(q.unified_corecount, 1), 1)
$$;

comment on function brokerage.whole_queue_cores(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Cores of a slot of the PanDA queue, also for its pseudo-queues, at least 1.';
