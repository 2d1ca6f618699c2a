create or replace function brokerage.queued_of_share(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns bigint
language sql stable parallel safe as $$
  select coalesce(p.defined, 0) + coalesce(p.activated, 0) + coalesce(p.assigned, 0) + coalesce(p.starting, 0)
$$;

comment on function brokerage.queued_of_share(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'The number nQ: jobs of the share that are defined, assigned, activated or starting at the queue.';
