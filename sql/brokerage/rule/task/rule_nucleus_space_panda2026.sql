-- See task-brokerage.md, nucleus-space. The demand is rounded to whole GB, and equality passes.
create or replace function brokerage.rule_nucleus_space_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when not p.is_preassigned and p.space - trunc(brokerage.space_for(q.remaining_work)) < t.disk_threshold * 1024
    then format('%s GB can be used, %s will be filled by its remaining work: less than %s GB (DISK_THRESHOLD)',
                round(p.space::numeric, 3), trunc(brokerage.space_for(q.remaining_work)), t.disk_threshold * 1024)
  end
$$;

comment on function brokerage.rule_nucleus_space_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'nucleus-space of panda2026: usable space, minus the output of the remaining work, is DISK_THRESHOLD or more.';
