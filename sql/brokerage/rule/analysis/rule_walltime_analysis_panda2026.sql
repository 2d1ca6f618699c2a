-- See analysis-filters.md, walltime. The rule is the same as in production without the dynamic number of events, for
-- jobs whose work is known and over 0. The upper limit is compared first, then walltime-scout (a rule of its own), then
-- the lower limit.
create or replace function brokerage.rule_walltime_analysis_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.is_merging or (brokerage.walltime_work_panda2026(t, q, p, t.job_events) > 0) is not true then null
    when q.maxtime > 0
         and brokerage.walltime_work_panda2026(t, q, p, t.job_events)
               > brokerage.walltime_bound_panda2026(t, q, p, q.maxtime)
    then format('-shortwalltime: takes %s, maxtime of %s s allows %s',
                brokerage.walltime_work_panda2026(t, q, p, t.job_events), q.maxtime,
                brokerage.walltime_bound_panda2026(t, q, p, q.maxtime))
    when brokerage.rule_walltime_scout_analysis_panda2026(t, q, p) is not null then null
    when q.mintime > 0
         and brokerage.walltime_work_panda2026(t, q, p, t.job_events)
               < brokerage.walltime_bound_panda2026(t, q, p, q.mintime)
    then format('-longwalltime: takes %s, mintime of %s s asks for %s',
                brokerage.walltime_work_panda2026(t, q, p, t.job_events), q.mintime,
                brokerage.walltime_bound_panda2026(t, q, p, q.mintime))
  end
$$;

comment on function brokerage.rule_walltime_analysis_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'walltime of analysis in panda2026: the work of a job lies between the bounds given by mintime and maxtime of the '
  'queue.';
