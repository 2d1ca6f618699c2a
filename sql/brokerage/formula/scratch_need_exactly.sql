-- The formula is that of brokerage.scratch_need; it is an argument of brokerage.compare.
create or replace function brokerage.scratch_need_exactly(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns numeric
language sql stable parallel safe as $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + greatest(536870912::numeric,
                    t.out_disk_bytes::numeric * case when t.out_disk_per_event then t.job_events
                                                     else t.job_input_mb::numeric end)
         + coalesce(t.work_disk_bytes::numeric, 0)
$$;

comment on function brokerage.scratch_need_exactly(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Scratch that a job of the task needs at the queue (bytes), without rounding.';
