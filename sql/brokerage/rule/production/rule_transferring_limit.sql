-- See production-load.md, transferring-limit. The rule rejects above max(limit, 2 * running); jobs of all shares count,
-- and no queue is exempt.
create or replace function brokerage.rule_transferring_limit(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.transferring_all > greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0))
    then format('%s jobs are transferring, the limit is %s', q.transferring_all,
                greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0)))
  end
$$;

comment on function brokerage.rule_transferring_limit(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'transferring-limit: not too many jobs are transferring at the queue.';
