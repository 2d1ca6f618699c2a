-- See production-filters.md, walltime. The walltime must lie between mintime and maxtime, inclusive. With a dynamic
-- number of events, at queues with mintime, the smallest job must not be too long, and the largest possible job must
-- not be too short.
create or replace function brokerage.rule_walltime(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.maxtime > 0 and brokerage.compare_walltime(t, q, p, brokerage.walltime_events(t, q, p), q.maxtime) > 0
    then format('-shortwalltime: needs %s s, maxtime is %s',
                trim_scale(round(brokerage.walltime_of(t, q, p, brokerage.walltime_events(t, q, p))::numeric, 1)),
                q.maxtime)
    when q.mintime > 0
         and coalesce(brokerage.compare_walltime(t, q, p, brokerage.most_events(t, q, p), q.mintime) < 0, true)
    then format('-longwalltime: needs %s s, mintime is %s',
                coalesce(trim_scale(round(brokerage.walltime_of(t, q, p, brokerage.most_events(t, q, p))::numeric,
                                          1))::text, 'an unknown number of'), q.mintime)
  end
$$;

comment on function brokerage.rule_walltime(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'walltime: the walltime of a job lies between mintime and maxtime of the queue; if it is not known, the queue must '
  'have no mintime.';
