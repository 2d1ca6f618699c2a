-- See analysis-filters.md, scratch-disk. The output has no minimum and is scaled by the input in MB, whatever its unit
-- is. Merge jobs have the same formula.
create or replace function brokerage.rule_scratch_disk_analysis(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.maxwdir > 0 and brokerage.compare(
           brokerage.scratch_need_analysis(t, q, p) * brokerage.whole_queue_cores(t, q, p), q.maxwdir * 1048576,
           brokerage.scratch_need_analysis_exactly(t, q, p) * brokerage.whole_queue_cores(t, q, p),
           q.maxwdir::numeric * 1048576) >= 0
    then format('needs %s MiB of scratch a core, maxwdir is %s for %s cores',
                trim_scale(round(brokerage.scratch_need_analysis_exactly(t, q, p) / 1048576, 3)), q.maxwdir,
                brokerage.whole_queue_cores(t, q, p))
  end
$$;

comment on function brokerage.rule_scratch_disk_analysis(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'scratch-disk of analysis: a job needs less scratch than maxwdir divided by the cores of the whole queue''s slot.';
