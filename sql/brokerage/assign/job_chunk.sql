-- distribution.md, job-chunk: one choice places up to 25 jobs, 2 for scouts and for hyperparameter optimisation, or
-- jobChunkSize of the queue.
create or replace function brokerage.job_chunk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns float8
language sql stable parallel safe as $$
  select coalesce(case when q.job_chunk_size > 0 then q.job_chunk_size end,
                  case when t.is_scout or t.hpo_workflow then 2 else 25 end)
$$;

comment on function brokerage.job_chunk(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Number of jobs that a queue gets at a time when the jobs of a task are distributed.';
