-- production-load.md, disk-io: the divisor of a task's diskIO.
create or replace function brokerage.disk_io_cores(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns int
language sql stable parallel safe as $$
  select case when coalesce(t.task_core_count, 1) in (0, 1) then 1 else brokerage.whole_queue_cores(t, q, p) end
$$;

comment on function brokerage.disk_io_cores(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Cores that share the diskIO of a task: those of the whole queue''s slot, or 1 for tasks of one core or of any '
  'number of cores.';
