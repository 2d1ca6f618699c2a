-- analysis-load.md, failed-jobs. Jobs have the names of queues or of unified queues.
create or replace function brokerage.outcomes_of_tasks(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns table (pair bigint, failed bigint, closed bigint, finished bigint)
language sql stable as $$
  with moment as materialized (  -- read once, since reading the configuration takes a millisecond
    select resource.clock(p_setup)
           - interval '1 hour' * (resource.config_value(p_setup, 'jedi', 'anal_jobbroker',
                                                        'TW_DONE_JOB_STAT') #>> '{}')::float8 as since
  ), outcome as materialized (
    select t.ordinality as task, r.queue, r.failed, r.closed, r.finished
      from unnest(p_tasks) with ordinality t
      join workload.task_outcome r on r.setup = p_setup and r.task_id = t.task_id
                                  and r.minute >= (select date_trunc('minute', m.since, 'utc') from moment m)
  ), queue as materialized (
    select q.ordinality as number, q.queue, q.unified_name from unnest(p_queues) with ordinality q
  )
  select r.task * cardinality(p_queues) + q.number, sum(r.failed)::bigint, sum(r.closed)::bigint,
         sum(r.finished)::bigint
    from outcome r
    join (select q.number, q.queue from queue q union select q.number, q.unified_name from queue q) q
      on q.queue = r.queue
   group by r.task, q.number
$$;

comment on function brokerage.outcomes_of_tasks(text, brokerage.task_facts[], brokerage.queue_facts[]) is
  'Numbers of jobs of tasks that failed, were closed or finished lately at queues, one row per pair that has any.';
