-- See analysis-filters.md, scratch-disk. The output has no minimum; nGBPerJob counts if it is more than the need.
create or replace function brokerage.rule_scratch_disk_analysis_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.maxwdir > 0
         and brokerage.scratch_need_analysis_panda2026(t, q, p) * brokerage.scratch_cores_panda2026(t, q, p) > q.maxwdir
    then format('needs %s MiB of scratch, maxwdir is %s for %s jobs',
                brokerage.scratch_need_analysis_panda2026(t, q, p), q.maxwdir,
                brokerage.scratch_cores_panda2026(t, q, p))
  end
$$;

comment on function brokerage.rule_scratch_disk_analysis_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'scratch-disk of analysis in panda2026: a job needs no more scratch than its part of maxwdir.';
