-- See production-filters.md, high-prio-opportunistic. The id is historical: pledges do not count.
create or replace function brokerage.rule_high_prio_opportunistic(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.is_high(t, q, p) and p.is_near is not true
    then format('priority %s%s: only queues of %s', t.current_priority, case when t.is_scout then ', scouts' end,
                coalesce(t.nucleus, 'the nucleus'))
  end
$$;

comment on function brokerage.rule_high_prio_opportunistic(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'high-prio-opportunistic: tasks of high priority and scouts go only to queues near the nucleus.';
