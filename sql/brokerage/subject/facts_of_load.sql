-- The counts are for the shares and resource types of tasks (conventions.md, Job counts).
create or replace function brokerage.facts_of_load(
  p_setup text, p_tasks brokerage.task_facts[], p_keys brokerage.task_key[], p_queues brokerage.queue_facts[],
  p_base_profile text
) returns setof brokerage.load_facts
language sql stable as $$
  with mix as materialized (  -- the resource types of the jobs of a task, by queue
    select m.number, dense_rank() over (order by m.gshare, m.resource_type) as share_number, m.gshare, m.resource_type,
           m.resource_types_at
      from (select distinct k.mix_number as number, t.gshare, t.resource_type, k.resource_types_at
              from unnest(p_tasks) with ordinality t
              join unnest(p_keys) with ordinality k on k.ordinality = t.ordinality) m
  ), unified as materialized (
    select u.number, u.queue from brokerage.unified_queues(p_queues) u
  ), share as materialized (
    select distinct m.share_number as number, m.gshare, m.resource_type from mix m
  ), slot as materialized (
    select s.number as share, u.number as queue,
           case when s.resource_type is null then sum(l.numslots)
                else coalesce(min(l.numslots) filter (where l.resource_type = s.resource_type),
                              min(l.numslots) filter (where l.resource_type is null)) end::bigint as numslots
      from (select o.queue, o.gshare, o.resource_type, o.numslots from resource.slot o where o.setup = p_setup) l
      join unified u on u.queue = l.queue
      join share s on l.gshare is not distinct from s.gshare
                   or l.gshare is null
                      and not exists (select from resource.slot x
                                       where x.setup = p_setup and x.queue = l.queue and x.gshare = s.gshare)
     group by s.number, s.resource_type, u.number
  ), typed as materialized (  -- an array reaches the rows below the view's count, a join does not
    select s.queue, s.gshare, s.resource_type,
           coalesce(sum(s.njobs) filter (where s.status = 'running'), 0) as running,
           coalesce(sum(s.njobs) filter (where s.status = 'starting'), 0) as starting,
           coalesce(sum(s.njobs) filter (where s.status = 'activated'), 0) as activated,
           coalesce(sum(s.njobs) filter (where s.status = 'assigned'), 0) as assigned,
           coalesce(sum(s.njobs) filter (where s.status = 'defined'), 0) as defined
      from workload.job_statistic s
     where s.setup = p_setup and s.gshare = any (array(select n.gshare from share n))
     group by s.queue, s.gshare, s.resource_type
  ), counted as materialized (
    select s.number as share, u.number as queue, sum(c.running)::bigint as running, sum(c.starting)::bigint as starting,
           sum(c.activated)::bigint as activated, sum(c.assigned)::bigint as assigned, sum(c.defined)::bigint as defined
      from typed c
      join unified u on u.queue = c.queue
      join share s on s.gshare = c.gshare
     group by s.number, u.number
  ), type_count as materialized (
    select m.number as mix, u.number as queue, sum(c.running)::bigint as running, sum(c.starting)::bigint as starting,
           sum(c.activated)::bigint as activated, sum(c.assigned)::bigint as assigned, sum(c.defined)::bigint as defined
      from typed c
      join unified u on u.queue = c.queue
      join mix m on m.gshare = c.gshare
                and case when m.resource_types_at ? c.queue then m.resource_types_at -> c.queue ? c.resource_type
                         else c.resource_type = m.resource_type end
     where p_base_profile <> 'documented'
     group by m.number, u.number
  )
  select x.place, sum(x.running)::bigint, sum(x.starting)::bigint, sum(x.activated)::bigint, sum(x.assigned)::bigint,
         sum(x.defined)::bigint, sum(x.numslots)::bigint, sum(x.type_running)::bigint, sum(x.type_starting)::bigint,
         sum(x.type_activated)::bigint, sum(x.type_assigned)::bigint, sum(x.type_defined)::bigint,
         null::bigint, null::bigint, null::float8, null::float8  -- brokerage.load_of_analysis fills these columns
    from (select m.number * cardinality(p_queues) + c.queue as place, c.running, c.starting, c.activated, c.assigned,
                 c.defined, null::bigint as numslots, null::bigint as type_running, null::bigint as type_starting,
                 null::bigint as type_activated, null::bigint as type_assigned, null::bigint as type_defined
            from mix m join counted c on c.share = m.share_number
          union all
          select m.number * cardinality(p_queues) + s.queue, null, null, null, null, null, s.numslots, null, null,
                 null, null, null
            from mix m join slot s on s.share = m.share_number
          union all
          select y.mix * cardinality(p_queues) + y.queue, null, null, null, null, null, null, y.running, y.starting,
                 y.activated, y.assigned, y.defined
            from type_count y) x
   group by x.place
$$;

comment on function brokerage.facts_of_load(
  text, brokerage.task_facts[], brokerage.task_key[], brokerage.queue_facts[], text) is
  'Jobs and slots at queues, one row for each share with resource types (mix) and PanDA queue with jobs or slots.';
