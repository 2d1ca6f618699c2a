-- Distributes the remaining jobs of one task over its candidates, given best first (distribution.md, Procedure).
create or replace function brokerage.assign_task(
  p_run brokerage.run, p_task_id bigint, p_queues text[], p_weights float8[], p_queued bigint[], p_capacities bigint[],
  p_chunks int[]
) returns bigint[]
language plpgsql as $$
declare
  v_jobs bigint := coalesce(
    (select i.jobs from workload.input_digest i where i.setup = p_run.setup and i.task_id = p_task_id), 0)
                 - coalesce((select s.assigned_jobs from brokerage.task_state s
                              where s.setup = p_run.setup and s.task_id = p_task_id and s.algorithm = p_run.algorithm),
                            0);
  v_given bigint[];
begin
  v_given := brokerage.distribute(v_jobs, p_weights, p_queued, p_capacities, p_chunks,
                                  case when p_run.seed is not null then hashint8extended(p_task_id, p_run.seed) end);
  insert into brokerage.assignment (setup, run_id, task_id, queue, jobs)
  select p_run.setup, p_run.run_id, p_task_id, g.queue, g.jobs
    from unnest(p_queues, v_given) g(queue, jobs)
   where g.jobs > 0;
  return v_given;
end $$;

comment on function brokerage.assign_task(brokerage.run, bigint, text[], float8[], bigint[], bigint[], int[]) is
  'Assigns the remaining jobs of a task to its candidates (queues, weights, jobs queued, limits, jobs per choice) and '
  'returns how many jobs each gets.';
