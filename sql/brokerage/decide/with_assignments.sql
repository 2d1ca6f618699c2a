-- The second part of a batch that was cut in two needs these facts: the first part has assigned jobs that the live
-- counter in the facts does not contain.
create or replace function brokerage.with_assignments(
  p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]
) returns brokerage.queue_facts[]
language sql stable as $$
  with queue as materialized (
    select f.ordinality as number, f.queue, f.unified_name from unnest(p_queues) with ordinality f
  ), assigned as materialized (
    select q.unified_name, sum(a.jobs)::bigint as jobs
      from brokerage.assignment a
      join queue q on q.queue = a.queue
     where a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids)
     group by q.unified_name
  )
  select array_agg(brokerage.with_live(p_queues[q.number], coalesce(a.jobs, 0)) order by q.number)
    from queue q
    left join assigned a on a.unified_name = q.unified_name
$$;

comment on function brokerage.with_assignments(brokerage.run, bigint[], brokerage.queue_facts[]) is
  'Facts of queues, with the jobs that a run assigned for the listed tasks added to their live counters.';
