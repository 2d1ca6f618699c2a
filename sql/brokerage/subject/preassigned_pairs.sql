-- production-candidates.md, prod-initial-preassigned; production-candidates.md, preassigned-merge.
create or replace function brokerage.preassigned_pairs(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text
) returns table (pair bigint, alone boolean)
language sql stable as $$
  with task as materialized (
    select f.ordinality as number, f.preassigned, f.preassigned_by from unnest(p_tasks) with ordinality f
     where f.preassigned is not null
  ), queue as materialized (
    select f.ordinality as number, f.queue, f.unified_name from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select u.queue, u.status, u.runs_production, u.runs_analysis from brokerage.unified_queues(p_queues) u
  ), merge_site as materialized (
    select distinct a.queue, w.storage, a.runs_production, a.runs_analysis
      from task t
     cross join unnest(t.preassigned) n(name)
      join unified a on a.queue = n.name
      join resource.queue_storage w on w.setup = p_setup and w.queue = a.queue and w.direction = 'write_lan'
                                   and w.scope = 'default' and w.position = 1
     where t.preassigned_by = 'preassigned-merge' and p_base_profile <> 'documented'
  -- online queues that read the storages to which a merge site writes, and run the same kinds of jobs
  ), reader as materialized (
    select distinct m.queue, b.queue as reader
      from merge_site m
      join resource.queue_storage r on r.setup = p_setup and r.storage = m.storage and r.direction = 'read_lan'
                                   and r.scope = 'default'
      join unified b on b.queue = r.queue and b.status = 'online' and b.runs_production >= m.runs_production
                    and b.runs_analysis >= m.runs_analysis
  ), named as materialized (
    select t.number as task, q.number as queue
      from task t
     cross join unnest(t.preassigned) n(name)
      left join queue q on n.name in (q.queue, q.unified_name)
  )
  select x.task * cardinality(p_queues) + x.queue,
         count(*) over (partition by x.task) = 1
           and x.task not in (select n.task from named n where n.queue is null)
    from (select n.task, n.queue from named n where n.queue is not null
          union
          select t.number, q.number
            from task t
            join reader r on r.queue = any (t.preassigned)
            join queue q on q.unified_name = r.reader
           where t.preassigned_by = 'preassigned-merge') x
$$;

comment on function brokerage.preassigned_pairs(
  text, brokerage.task_facts[], brokerage.queue_facts[], text) is
  'Queues to which tasks are pre-assigned, one row per pair; alone: whether the task names this queue and no '
  'other, known or not.';
