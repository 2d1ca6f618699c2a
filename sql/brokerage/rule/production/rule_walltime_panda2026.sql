-- See production-filters.md, walltime. The upper limit is compared first, then walltime-scout (a rule of its own), then
-- the lower limit.
create or replace function brokerage.rule_walltime_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.maxtime > 0 and brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p)) > 0
         and brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p))
               > brokerage.walltime_bound_panda2026(t, q, p, q.maxtime)
    then format('-shortwalltime: takes %s, maxtime of %s s allows %s',
                brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p)),
                q.maxtime, brokerage.walltime_bound_panda2026(t, q, p, q.maxtime))
    when brokerage.rule_walltime_scout_panda2026(t, q, p) is not null then null
    when q.mintime > 0 and coalesce(
           brokerage.walltime_work_panda2026(t, q, p, brokerage.most_events_panda2026(t, q, p))
             < brokerage.walltime_bound_panda2026(t, q, p, q.mintime),
           true)
    then format('-longwalltime: takes %s, mintime of %s s asks for %s',
                coalesce(brokerage.walltime_work_panda2026(t, q, p, brokerage.most_events_panda2026(t, q, p))::text,
                         'an unknown time'), q.mintime, brokerage.walltime_bound_panda2026(t, q, p, q.mintime))
  end
$$;

comment on function brokerage.rule_walltime_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'walltime of panda2026: the work of a job lies between the bounds given by mintime and maxtime of the queue.';
