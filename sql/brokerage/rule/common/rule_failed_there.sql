-- See production-candidates.md, failed-there.
create or replace function brokerage.rule_failed_there(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when q.unified_name = any (t.failed_queues)
              then 'these parts failed there, and a retry rule sends them elsewhere' end
$$;

comment on function brokerage.rule_failed_there(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'failed-there: parts of the input that failed at the queue by a retry rule with elsewhere go to another queue.';
