-- distribution.md, running-jobs-cap: the cap is twice the running jobs, at least NQUEUELIMITSITE; express tasks have no
-- cap.
create or replace function brokerage.running_jobs_cap(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns float8
language sql stable parallel safe as $$
  select case when not brokerage.is_express(t, q, p, x)
              then greatest(t.nqueuelimitsite, 2 * brokerage.running_workers(t, q, p)) end
$$;

comment on function brokerage.running_jobs_cap(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'The number of jobs of the share that may wait at a queue when jobs are distributed; null means no limit.';
