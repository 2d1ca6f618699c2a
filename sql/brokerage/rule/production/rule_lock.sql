-- See production-load.md, lock. A lock counts for five minutes.
create or replace function brokerage.rule_lock(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns text
language sql stable parallel safe as $$
  select case when q.lock_age < interval '5 minutes'
              then format('another broker has locked the queue for %s s', round(extract(epoch from q.lock_age))) end
$$;

comment on function brokerage.rule_lock(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'lock: no other broker works on the queue.';
