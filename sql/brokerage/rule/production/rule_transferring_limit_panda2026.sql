-- See production-load.md, transferring-limit. The nucleus, queues that share its storage, and queues without storage
-- are exempt; jobs that the nucleus cannot take do not count.
create or replace function brokerage.rule_transferring_limit_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when p.is_near is not true and p.is_own is not true and q.storage_site is not null
         and coalesce(q.transferring_all, 0) - coalesce(q.transferring_to_unwritable, 0)
             > greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0))
    then format('%s jobs are transferring, the limit is %s',
                coalesce(q.transferring_all, 0) - coalesce(q.transferring_to_unwritable, 0),
                greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0)))
  end
$$;

comment on function brokerage.rule_transferring_limit_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'transferring-limit of panda2026: not too many jobs are transferring at a satellite.';
