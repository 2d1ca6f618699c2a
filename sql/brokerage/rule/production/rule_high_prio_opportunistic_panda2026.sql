-- See production-filters.md, high-prio-opportunistic. Unlike in documented, the queue need not be near the nucleus.
create or replace function brokerage.rule_high_prio_opportunistic_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.is_high(t, q, p) and p.is_preassigned is not true and q.pledgedcpu = -1
    then format('priority %s%s: no opportunistic queue', t.current_priority, case when t.is_scout then ', scouts' end)
  end
$$;

comment on function brokerage.rule_high_prio_opportunistic_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'high-prio-opportunistic of panda2026: tasks of high priority and scouts do not go to opportunistic queues '
  '(pledgedcpu -1).';
