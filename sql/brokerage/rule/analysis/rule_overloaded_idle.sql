-- See analysis-load.md, overloaded-idle. An overloaded queue where nothing runs is marked, whether or not other queues
-- are left.
create or replace function brokerage.rule_overloaded_idle(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.is_overloaded(t, q, p) and coalesce(p.running, 0) = 0 and t.is_merging is not true
         and p.is_preassigned is not true
    then format('%s jobs of the share are queued, none is running', brokerage.queued_of_share(t, q, p))
  end
$$;

comment on function brokerage.rule_overloaded_idle(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'overloaded-idle: an overloaded queue at which no job of the share runs is rejected at the end.';
