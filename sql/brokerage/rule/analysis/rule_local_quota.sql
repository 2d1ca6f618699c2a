-- See analysis-throttles.md, local-quota. The quota is that of the user at the output storage.
create or replace function brokerage.rule_local_quota(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when q.output_storage = any (t.over_local)
              then format('the quota of the user at %s is used up', q.output_storage) end
$$;

comment on function brokerage.rule_local_quota(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'local-quota: the user has quota left at the output storage of the queue.';
