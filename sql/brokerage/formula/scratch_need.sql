-- facts-and-formulas.md, scratch-need: input unless it is read directly, output of at least 0.5 GB, and the task's
-- work directory.
create or replace function brokerage.scratch_need(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + greatest(536870912::float8,
                    t.out_disk_bytes * case when t.out_disk_per_event then t.job_events else t.job_input_mb end)
         + coalesce(t.work_disk_bytes, 0)
$$;

comment on function brokerage.scratch_need(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Scratch that a job of the task needs at the queue (bytes).';
