-- Few pairs of task and queue have these facts: pre-assignment, and input that is there (conventions.md, Available
-- input). A dataset is read once, not once per task. Long because it is one query whose parts share materialised rows.
create or replace function brokerage.facts_of_placement(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text,
  p_analysis boolean
) returns setof brokerage.placement_facts
language sql stable as $$
  with task as materialized (
    select f.ordinality as number, f.task_id, f.is_merging,
           coalesce(f.io_intensity > f.io_intensity_cutoff and not f.input_pre_staging
                      and p_analysis is not true,
                    false) as only_complete,
           coalesce(d.shared_files, false) as shared_files
      from unnest(p_tasks) with ordinality f
      left join workload.input_digest d on d.setup = p_setup and d.task_id = f.task_id
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.queue, f.unified_name
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select u.number, u.queue from brokerage.unified_queues(p_queues) u
  ), input as materialized (
    select t.number as task, i.position, i.dataset, t.is_merging, t.only_complete, t.shared_files
      from task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d)
  ), dataset as materialized (
    select i.dataset, count(f.lfn) as files, coalesce(sum(f.size), 0)::bigint as bytes
      from (select distinct dataset from input) i
      left join workload.dataset_file f on f.setup = p_setup and f.dataset = i.dataset
     group by i.dataset
  ), replica as materialized (
    select r.dataset, r.storage, r.lfns, f.found, f.is_complete
      from dataset d
      join workload.replica r on r.setup = p_setup and r.dataset = d.dataset and r.vp is not true
     cross join lateral workload.replica_figures(r, d.files) f
  ), cover as materialized (  -- the part of a dataset at a queue: all of it, or some, on disk or with tape
    select r.dataset, u.number as queue,
           coalesce(bool_or(r.is_complete) filter (where not s.is_tape), false) as all_on_disk,
           coalesce(bool_or(r.is_complete), false) as all_there,
           coalesce(bool_or(true) filter (where not s.is_tape), false) as some_on_disk
      from replica r
      join resource.storage_of_queue s on s.setup = p_setup and s.storage = r.storage and s.direction = 'read_lan'
       and case when p_analysis then exists (select from resource.storage_for_analysis a
                                              where a.setup = s.setup and a.queue = s.queue
                                                and a.direction = s.direction and a.scope = s.scope)
                else s.scope = 'default' end
      join unified u on u.queue = s.queue
     group by r.dataset, u.number
  ), partly as materialized (  -- files of incomplete replicas whose parts count for some task, each once
    select c.dataset, c.queue, f.lfn, min(f.size) as size, bool_or(not s.is_tape) as on_disk
      from cover c
      join unified u on u.number = c.queue
      join resource.storage_of_queue s on s.setup = p_setup and s.queue = u.queue and s.direction = 'read_lan'
       and case when p_analysis then exists (select from resource.storage_for_analysis a
                                              where a.setup = s.setup and a.queue = s.queue
                                                and a.direction = s.direction and a.scope = s.scope)
                else s.scope = 'default' end
      join replica r on r.dataset = c.dataset and r.storage = s.storage and not r.is_complete
      join workload.dataset_file f on f.setup = p_setup and f.dataset = c.dataset
                                  and case when r.lfns is null then f.position <= r.found else f.lfn = any (r.lfns) end
     where not c.all_there
       and c.dataset in (select i.dataset from input i where i.position = 1 and not i.only_complete)
     group by c.dataset, c.queue, f.lfn
  ), partial as materialized (
    select p.dataset, p.queue, count(*) filter (where p.on_disk) as disk_files,
           coalesce(sum(p.size) filter (where p.on_disk), 0)::bigint as disk_bytes,
           count(*) as files, coalesce(sum(p.size), 0)::bigint as bytes
      from partly p group by p.dataset, p.queue
  ), held as materialized (  -- the part of an input dataset that counts for a task at a queue
    select i.task, c.queue, i.dataset, i.shared_files,
           c.all_on_disk or i.is_merging and c.some_on_disk as disk_whole, c.all_there or i.is_merging as reach_whole,
           i.position = 1 and not i.only_complete and not c.all_there as parts_count
      from input i
      join cover c on c.dataset = i.dataset
  ), available as materialized (
    select h.task, h.queue,
           sum(case when h.disk_whole then d.files when h.parts_count then coalesce(p.disk_files, 0)
                    else 0 end)::bigint as disk_files,
           sum(case when h.disk_whole then d.bytes when h.parts_count then coalesce(p.disk_bytes, 0)
                    else 0 end)::bigint as disk_bytes,
           sum(case when h.reach_whole then d.files when h.parts_count then coalesce(p.files, 0)
                    else 0 end)::bigint as files,
           sum(case when h.reach_whole then d.bytes when h.parts_count then coalesce(p.bytes, 0)
                    else 0 end)::bigint as bytes
      from held h
      join dataset d on d.dataset = h.dataset
      left join partial p on p.dataset = h.dataset and p.queue = h.queue
     where not h.shared_files
     group by h.task, h.queue
    union all
    select l.task, l.queue, count(*) filter (where l.on_disk),
           coalesce(sum(l.size) filter (where l.on_disk), 0)::bigint, count(*), sum(l.size)::bigint
      from (select h.task, h.queue, f.lfn, min(f.size) as size,
                   bool_or(h.disk_whole or h.parts_count and coalesce(p.on_disk, false)) as on_disk
              from held h
              join workload.dataset_file f on f.setup = p_setup and f.dataset = h.dataset
              left join partly p on p.dataset = h.dataset and p.queue = h.queue and p.lfn = f.lfn
             where h.shared_files and (h.disk_whole or h.reach_whole or h.parts_count and p.lfn is not null)
             group by h.task, h.queue, f.lfn) l
     group by l.task, l.queue
  )
  select x.pair, bool_or(x.alone is not null), bool_or(x.alone), sum(x.disk_files)::bigint,
         sum(x.disk_bytes)::bigint, sum(x.files)::bigint, sum(x.bytes)::bigint,
         -- brokerage.placement_of_analysis fills the rest
         null::boolean, null::text, null::float8, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint
    from (select h.pair, h.alone, null::bigint as disk_files, null::bigint as disk_bytes, null::bigint as files,
                 null::bigint as bytes
            from brokerage.preassigned_pairs(p_setup, p_tasks, p_queues, p_base_profile) h
          union all
          select a.task * cardinality(p_queues) + q.number, null, a.disk_files, a.disk_bytes, a.files, a.bytes
            from available a
            join queue q on q.unified = a.queue) x
   group by x.pair
$$;

comment on function brokerage.facts_of_placement(
  text, brokerage.task_facts[], brokerage.queue_facts[], text, boolean) is
  'Pre-assignments of tasks and their input at queues, one row per pair that has either. p_analysis: only storages of '
  'analysis count.';
