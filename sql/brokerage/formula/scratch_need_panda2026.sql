-- facts-and-formulas.md, scratch-need: at least 1500 MiB of output, 300 MiB more than the task's work directory,
-- floor-divided to MiB.
create or replace function brokerage.scratch_need_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select floor((case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
                + greatest(1572864000::float8,
                           t.out_disk_bytes * case when t.out_disk_per_event then t.job_events else t.job_input_mb end)
                + coalesce(t.work_disk_bytes + 314572800, 0)) / 1048576)
$$;

comment on function brokerage.scratch_need_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Scratch that a job of the task needs at the queue (MiB), as PanDA''s code computes it.';
