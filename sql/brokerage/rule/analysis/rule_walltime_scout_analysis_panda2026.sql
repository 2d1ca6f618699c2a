-- See analysis-filters.md, walltime-scout. Merging alone does not require a day, and scouts at the task's own site
-- are exempt, also at each pseudo-queue of a unified site.
create or replace function brokerage.rule_walltime_scout_analysis_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when t.is_scout and p.is_preassigned is not true or t.walltime_is_undefined
              then brokerage.rule_walltime_scout_panda2026(t, q, p) end
$$;

comment on function brokerage.rule_walltime_scout_analysis_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'walltime-scout of analysis in panda2026: scouts and tasks of unknown walltime need a queue that allows them 864000 '
  'HS06 s per core.';
