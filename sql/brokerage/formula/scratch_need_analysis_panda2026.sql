-- facts-and-formulas.md, scratch-need-analysis: the work directory needs 300 MiB more, as in production.
create or replace function brokerage.scratch_need_analysis_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case
    when t.is_merging then floor(2 * coalesce(t.job_input_bytes, 0) / 1048576::float8)
    else greatest(
      floor((case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
             + coalesce(t.out_disk_bytes, 0) * coalesce(t.job_input_mb, 0)
             + coalesce(t.work_disk_bytes + 314572800, 0)) / 1048576),
      case when not t.n_gb_per_job > 0 then null
           when not brokerage.reads_directly(t, q, p) then t.n_gb_per_job * 1024
           when t.use_local_io is not true then floor((coalesce(t.out_disk_bytes, 0) * t.n_gb_per_job * 1024
                                                       + coalesce(t.work_disk_bytes + 314572800, 0)) / 1048576) end)
  end
$$;

comment on function brokerage.scratch_need_analysis_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Scratch that an analysis job of the task needs at the queue (MiB), as PanDA''s code computes it.';
