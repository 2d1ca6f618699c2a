-- facts-and-formulas.md, scratch-need-analysis: (0 or input) + outDiskCount * input + workDiskCount.
create or replace function brokerage.scratch_need_analysis_exactly(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns numeric
language sql stable parallel safe as $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + coalesce(t.out_disk_bytes, 0)::numeric * coalesce(t.job_input_mb, 0)::numeric
         + coalesce(t.work_disk_bytes::numeric, 0)
$$;

comment on function brokerage.scratch_need_analysis_exactly(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Scratch that an analysis job of the task needs at the queue (bytes), without rounding.';
