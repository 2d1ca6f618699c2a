-- The facts are the input as rules of analysis see it, the outcome of the jobs, and the jobs of the user
-- (analysis-candidates.md, anal-locality; analysis-load.md, failed-jobs, stabilizer). In documented a queue counts as
-- pre-assigned if it is like a name of the task (analysis-candidates.md, anal-initial). A pair has one row, since each
-- further join costs every pair as much time as five rules.
create or replace function brokerage.placement_of_analysis(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text,
  p_placement brokerage.placement_facts[], p_locality brokerage.locality_facts[]
) returns setof brokerage.placement_facts
language sql stable as $$
  with task as materialized (
    select f.ordinality as number, dense_rank() over (order by f.gshare, f.label, f.user_name) as owner, f.gshare,
           f.label, f.user_name,
           case when p_base_profile = 'documented' then f.included_sites || f.sites end as sites
      from unnest(p_tasks) with ordinality f
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.queue, f.unified_name
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select u.number, u.queue from brokerage.unified_queues(p_queues) u
  ), owner as materialized (
    select distinct t.owner as number, t.gshare, t.label, t.user_name from task t
  ), own as materialized (
    select o.number as owner, u.number as queue, coalesce(sum(x.queued), 0)::bigint as queued,
           coalesce(sum(x.running), 0)::bigint as running
      from owner o
      join workload.user_queue_job x on x.setup = p_setup and x.gshare = o.gshare and x.user_name = o.user_name
                                    and coalesce(x.label = o.label, x.label is null)
      join unified u on u.queue = x.queue
     group by o.number, u.number
    having bool_or(x.label is null) or sum(x.queued) > 0 or sum(x.running) > 0
  ), jobs as materialized (
    select t.number * cardinality(p_queues) + q.number as pair, o.queued, o.running
      from own o
      join task t on t.owner = o.owner
      join queue q on q.unified = o.queue
  ), named as materialized (
    select t.number * cardinality(p_queues) + q.number as pair
      from (select t.number, t.sites from task t where t.sites is not null offset 0) t
      join queue q on q.queue like any (t.sites) or q.unified_name like any (t.sites)
  )
  select coalesce(p.pair, l.pair, j.pair, n.pair),
         case when p_base_profile = 'documented' then n.pair is not null else coalesce(p.is_preassigned, false) end,
         p.alone, p.disk_files, p.disk_bytes, p.files, p.bytes, l.is_placed, l.problem, l.copies, l.failed, l.closed,
         l.finished, j.queued, j.running
    from unnest(p_placement) p
    full join unnest(p_locality) l on l.pair = p.pair
    full join jobs j on j.pair = coalesce(p.pair, l.pair)
    full join named n on n.pair = coalesce(p.pair, l.pair, j.pair)
$$;

comment on function brokerage.placement_of_analysis(
  text, brokerage.task_facts[], brokerage.queue_facts[], text, brokerage.placement_facts[],
  brokerage.locality_facts[]) is
  'Facts of analysis tasks at single queues, one row per pair that has any: those of brokerage.facts_of_placement and '
  'brokerage.facts_of_locality, pre-assignments by name, and the jobs of users.';
