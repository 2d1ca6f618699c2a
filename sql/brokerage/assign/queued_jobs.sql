-- distribution.md, queued-jobs: jobs of the share that wait at the queue.
create or replace function brokerage.queued_jobs(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select p.defined + p.activated + brokerage.waiting_assigned(t, q, p) + p.starting
$$;

comment on function brokerage.queued_jobs(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Jobs of the share that wait at a queue, as they count when jobs are distributed.';
