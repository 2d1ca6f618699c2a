-- distribution.md, queued-jobs: at pseudo-queues only jobs of the task's resource types count; the live counter is
-- added.
create or replace function brokerage.queued_jobs_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select (coalesce(case when q.child_type is not null then brokerage.type_waiting(t, q, p) end,
                   brokerage.waiting_panda2026(t, q, p)) + coalesce(q.live_jobs, 0))::float8
$$;

comment on function brokerage.queued_jobs_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Jobs that wait at a queue, as they count in panda2026 when jobs are distributed.';
