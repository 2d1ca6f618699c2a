-- The facts are shared storage and the link (conventions.md, Nucleus queues).
create or replace function brokerage.facts_of_network(
  p_setup text, p_tasks brokerage.task_facts[], p_keys brokerage.task_key[], p_queues brokerage.queue_facts[],
  p_base_profile text
) returns setof brokerage.network_facts
language sql stable as $$
  with nucleus as materialized (
    select distinct k.nucleus_number as number, t.nucleus
      from unnest(p_tasks) with ordinality t
      join unnest(p_keys) with ordinality k on k.ordinality = t.ordinality
     where t.nucleus is not null
  ), queue as materialized (
    select u.* from brokerage.unified_queues(p_queues) u
  ), sharing as materialized (  -- queues whose default output storage is an input storage of the nucleus
    select distinct f.nucleus, w.queue
      from brokerage.first_nucleus_queue f
      join resource.queue_storage r on r.setup = p_setup and r.queue = f.queue and r.direction = 'read_lan'
                                   and r.scope = 'default'
      join resource.queue_storage w on w.setup = p_setup and w.storage = r.storage and w.direction = 'write_lan'
                                   and w.scope = 'default' and w.position = 1
      left join queue a on a.queue = f.queue
      join queue b on b.queue = w.queue
     where f.setup = p_setup and f.nucleus in (select n.nucleus from nucleus n)
       and (p_base_profile = 'documented'  -- PanDA's code: the queue runs the kinds of jobs that the first queue runs
            or b.runs_production >= coalesce(a.runs_production, false)
           and b.runs_analysis >= coalesce(a.runs_analysis, false))
  )
  select n.number * cardinality(p_queues) + u.number,
         u.is_nucleus and u.panda_site is not distinct from n.nucleus,
         coalesce(u.is_nucleus and u.panda_site = n.nucleus or u.status = 'online' and o.queue is not null, false),
         coalesce(u.storage_site = n.nucleus, false), l.closeness,
         case when l.src is not null then coalesce(l.queued, 0) end::float8,
         case when l.src is not null then coalesce(l.queued_express, 0) end::float8,
         l.mbps
    from nucleus n
   cross join queue u
    left join brokerage.link_figures(p_setup) l on l.dst = n.nucleus and l.src = u.storage_site
    left join sharing o on o.nucleus = n.nucleus and o.queue = u.queue
$$;

comment on function brokerage.facts_of_network(
  text, brokerage.task_facts[], brokerage.task_key[], brokerage.queue_facts[], text) is
  'Common facts of the nuclei of tasks and queues, one row per nucleus and PanDA queue.';
