-- See production-filters.md, walltime-scout. A job needs a day at 10 HS06 per core; a queue without maxtime passes.
create or replace function brokerage.rule_walltime_scout_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when (t.is_scout and not brokerage.is_only_site(t, q, p) or t.is_merging or t.walltime_is_undefined)
         and q.maxtime > 0
         and brokerage.walltime_bound_panda2026(t, q, p, q.maxtime) <> 0
         and brokerage.walltime_bound_panda2026(t, q, p, q.maxtime) < 864000::bigint * brokerage.slot_cores(t, q, p)
    then format('%s: maxtime of %s s lets a job take %s, less than %s',
                case when t.is_scout then '-scout_walltime' else '-min_walltime' end,
                q.maxtime, brokerage.walltime_bound_panda2026(t, q, p, q.maxtime),
                864000::bigint * brokerage.slot_cores(t, q, p))
  end
$$;

comment on function brokerage.rule_walltime_scout_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'walltime-scout of panda2026: scouts, merge jobs and tasks of unknown walltime need a queue that allows them 864000 '
  'HS06 s per core.';
