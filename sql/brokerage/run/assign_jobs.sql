-- Distributes the jobs of tasks that a run decided over their candidates (brokerage-rules 1.3), highest priority first, counts them in the live
-- counter, and notes where the tasks stand.
create or replace function brokerage.assign_jobs(p_run brokerage.run, p_task_ids bigint[]) returns void
language plpgsql
as $$
declare
  v_task record;
  v_given bigint[];
begin
  for v_task in
    select d.task_id, greatest(coalesce(i.jobs, 0) - coalesce(s.assigned_jobs, 0), 0) as jobs, c.queues, c.weights, c.queued, c.capacities, c.chunks
      from brokerage.task_decision d
      join workload.task t on t.setup = d.setup and t.task_id = d.task_id
      left join workload.input_digest i on i.setup = d.setup and i.task_id = d.task_id
      left join brokerage.task_state s on s.setup = d.setup and s.task_id = d.task_id
     cross join lateral (
           select array_agg(x.queue order by x.rank) as queues, array_agg(coalesce(x.weight, 1) order by x.rank) as weights,
                  array_agg(coalesce(x.queued, 0) order by x.rank) as queued, array_agg(x.capacity order by x.rank) as capacities,
                  array_agg(coalesce(x.chunk, 25) order by x.rank) as chunks
             from brokerage.decision x
            where x.setup = d.setup and x.run_id = d.run_id and x.task_id = d.task_id and x.verdict = 'c') c
     where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = any (p_task_ids) and d.status = 'candidates'
     order by t.current_priority desc, d.task_id
  loop
    v_given := brokerage.distribute(v_task.jobs, v_task.weights, v_task.queued, v_task.capacities, v_task.chunks,
                                    case when p_run.seed is not null then hashint8extended(v_task.task_id, p_run.seed) end);
    insert into brokerage.assignment (setup, run_id, task_id, queue, jobs)
    select p_run.setup, p_run.run_id, v_task.task_id, g.queue, g.jobs
      from unnest(v_task.queues, v_given) g(queue, jobs) where g.jobs > 0;
  end loop;
  insert into brokerage.live_counter (setup, queue, jobs, counted_at)
  select p_run.setup, q.unified_name, sum(a.jobs), p_run.started_at
    from brokerage.assignment a
    join resource.candidate_queue q on q.setup = a.setup and q.queue = a.queue
   where a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids)
   group by q.unified_name;
  insert into brokerage.task_state as s (setup, task_id, run_id, retry_at, assigned_jobs)
  select p_run.setup, d.task_id, d.run_id, d.retry_at,
         coalesce((select sum(a.jobs) from brokerage.assignment a where a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id), 0)
    from brokerage.task_decision d
   where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = any (p_task_ids)
   order by d.task_id
  on conflict (setup, task_id) do update set run_id = excluded.run_id, retry_at = excluded.retry_at, assigned_jobs = s.assigned_jobs + excluded.assigned_jobs;
end $$;

comment on function brokerage.assign_jobs(brokerage.run, bigint[]) is
'Assigns the jobs of decided tasks to their candidates, counts them, and notes when pending tasks are due again.';
