create or replace function brokerage.distributed(
  p_run brokerage.run, p_task brokerage.task_facts, p_weights float8[], p_queued bigint[], p_capacities bigint[],
  p_chunks int[]
) returns bigint[]
language sql volatile
return brokerage.distribute(coalesce(p_task.unassigned_jobs, 0), p_weights, p_queued, p_capacities, p_chunks,
                            hashint8extended(p_task.task_id, p_run.seed));

comment on function brokerage.distributed(
  brokerage.run, brokerage.task_facts, float8[], bigint[], bigint[], int[]) is
  'The number of unassigned jobs of a task that each of its candidates gets in a run, from the weights, the queued '
  'jobs, the limits and the jobs per choice.';
