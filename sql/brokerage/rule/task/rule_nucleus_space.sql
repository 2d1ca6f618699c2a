-- See task-brokerage.md, nucleus-space. The inequality is free - 0.25 * RW / 864000 > threshold, multiplied out
-- (conventions.md, Exact arithmetic).
create or replace function brokerage.rule_nucleus_space(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when not p.is_preassigned and (p.space - t.disk_threshold * 1024) * 3456000 <= q.remaining_work
    then format('%s GB are free, %s will be filled by its remaining work: not over %s GB (DISK_THRESHOLD)',
                round(p.space::numeric, 3), round(brokerage.space_for(q.remaining_work)::numeric, 3),
                t.disk_threshold * 1024)
  end
$$;

comment on function brokerage.rule_nucleus_space(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'nucleus-space: free and expired space, minus the output of the remaining work, is over DISK_THRESHOLD.';
