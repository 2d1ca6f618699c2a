-- See production-filters.md, walltime-scout. The rule compares maxtime itself with a day.
create or replace function brokerage.rule_walltime_scout(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when (t.is_scout or t.is_merging) and q.maxtime > 0 and q.maxtime < 86400
    then format('%s: maxtime is %s s, less than a day',
                case when t.is_scout then '-scout_walltime' else '-min_walltime' end, q.maxtime)
  end
$$;

comment on function brokerage.rule_walltime_scout(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'walltime-scout: scouts and merge jobs need a queue that allows a walltime of a day.';
