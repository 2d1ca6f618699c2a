-- A what-if reads the destinations of the jobs in two dry runs. A dry run assigns no jobs, so they are distributed
-- here, with the draws of the first run for both. Tasks do not see each other's jobs. Nested loops are off: see
-- brokerage.run_difference.
create or replace function brokerage.jobs_difference(p_setup text, p_before bigint, p_after bigint)
returns table (queue text, tasks_before bigint, tasks_after bigint, jobs_before bigint, jobs_after bigint)
language plpgsql stable security definer set search_path = brokerage, pg_temp set enable_nestloop = off
set enable_sort = off set work_mem = '64MB' as $$
#variable_conflict use_column
begin
  perform resource.identify_viewer(p_setup);
  perform brokerage.require_runs(p_setup, array[p_before, p_after]);
  return query
  with decided as (
    select c.run_id, c.task_id, array_agg(c.queue order by c.rank) as queues,
           array_agg(coalesce(c.weight, 1) order by c.rank) as weights,
           array_agg(coalesce(c.queued, 0) order by c.rank) as queued,
           array_agg(c.capacity order by c.rank) as capacities,
           array_agg(coalesce(c.chunk, 25) order by c.rank) as chunks
      from brokerage.candidate_of_run c
     where c.setup = p_setup and c.run_id in (p_before, p_after)
     group by c.run_id, c.task_id
  ), given as (
    select d.run_id, d.queues,
           brokerage.distribute(greatest(t.jobs_left, 0), d.weights, d.queued, d.capacities, d.chunks,
                                hashint8extended(d.task_id, r.seed)) as jobs
      from decided d
      join brokerage.run r on r.setup = p_setup and r.run_id = p_before
      join brokerage.task_due_state t on t.setup = p_setup and t.task_id = d.task_id and t.algorithm = r.algorithm
  )
  select u.queue, count(*) filter (where g.run_id = p_before and u.rank = 1),
         count(*) filter (where g.run_id = p_after and u.rank = 1),
         coalesce(sum(u.jobs) filter (where g.run_id = p_before), 0)::bigint,
         coalesce(sum(u.jobs) filter (where g.run_id = p_after), 0)::bigint
    from given g
   cross join lateral unnest(g.queues, g.jobs) with ordinality u(queue, jobs, rank)
   group by u.queue
  having bool_or(u.rank = 1) or sum(u.jobs) > 0
   order by u.queue collate "C";
end $$;

comment on function brokerage.jobs_difference(text, bigint, bigint) is
  'Queues or nuclei of two runs: the number of tasks whose best candidate each one is, and the number of unassigned '
  'jobs that it would get if each task were alone. Jobs of nuclei are those of their tasks. Errors: PB001, PB002, '
  'PB004 (no such run).';
