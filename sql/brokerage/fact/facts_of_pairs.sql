-- Facts of each task and each queue, a row a pair, none missing: link, counts, input (conventions.md, Job counts;
-- conventions.md, Nucleus queues; conventions.md, Available input). Planned into the query of the profile (one
-- SELECT, no SET). Joins go by numbers of tasks and unified queues. Values that depend on nucleus, share, software
-- or dataset are computed once each, not once a task, and joined once for all tasks that agree in all of them
-- (class): each further join costs every pair as much as five rules. p_base_profile: documented leaves out what only
-- panda2026 reads.
create or replace function brokerage.facts_of_pairs(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text,
  p_analysis boolean default null
) returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean,
                 is_nucleus_queue boolean, is_near boolean, is_own boolean, closeness float8, queued float8,
                 queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
                 defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint,
                 type_assigned bigint, type_defined bigint, available_files bigint, available_bytes bigint,
                 reachable_files bigint, reachable_bytes bigint, input_is_local boolean, has_readable_source boolean,
                 zero_share text, software text, platform_level_percent float8)
language sql stable as $$
  with numbered as not materialized (
    select f.ordinality as number, f.task_id, f.nucleus, f.preassigned, f.preassigned_by, f.is_merging, f.input_bytes,
           f.input_pre_staging,
           coalesce(f.io_intensity > f.io_intensity_cutoff and not f.input_pre_staging, false) as only_complete,
           coalesce(d.shared_files, false) as shared_files,
           dense_rank() over (order by f.nucleus) as nucleus_number,
           dense_rank() over (order by f.gshare, f.resource_type) as share_number, f.gshare, f.resource_type,
           dense_rank() over (order by k.share_key) as policy_number, k.share_key,
           dense_rank() over (order by k.software_key, k.level) as software_number, k.software_key, k.level,
           dense_rank() over (order by f.gshare, f.resource_type, r.resource_types_at) as mix_number,
           r.resource_types_at
      from unnest(p_tasks) with ordinality f
      left join workload.task t on t.setup = p_setup and t.task_id = f.task_id
      left join workload.input_digest d on d.setup = p_setup and d.task_id = f.task_id
     cross join lateral (select brokerage.share_key(t), brokerage.software_key(t),
                                brokerage.platform_level(t.architecture)
                         offset 0) k(share_key, software_key, level)
     cross join lateral (
       select case when p_base_profile <> 'documented' then t.resource_types_at end) r(resource_types_at)
  ), task as materialized (
    select n.*,
           dense_rank() over (order by n.nucleus_number, n.share_number, n.mix_number, n.policy_number,
                                       n.software_number) as class_number
      from numbered n
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.queue, f.unified_name,
           f.storage_site, f.panda_site, f.is_nucleus, f.is_production, f.status
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select distinct on (q.unified) q.unified as number, q.unified_name as queue, q.storage_site, q.panda_site,
           q.is_nucleus, q.status
      from queue q
     order by q.unified
  ), reader as materialized (  -- queues that read where another one writes
    select distinct w.queue, r.queue as reader
      from resource.queue_storage w
      join resource.queue_storage r on r.setup = w.setup and r.storage = w.storage and r.direction = 'read_lan'
                                   and r.scope = 'default'
     where w.setup = p_setup and p_base_profile <> 'documented' and w.direction = 'write_lan' and w.scope = 'default'
       and w.position = 1
  ), chosen as materialized (  -- queues that tasks are pre-assigned to
    select x.task, x.queue, count(*) over (partition by x.task) = 1 as alone
      from (select t.number as task, q.number as queue
              from task t join queue q on q.queue = any (t.preassigned) or q.unified_name = any (t.preassigned)
            union
            select t.number, q.number
              from task t
              join reader r on r.queue = any (t.preassigned)
              join queue q on q.unified_name = r.reader and q.status = 'online' and q.is_production
             where t.preassigned_by = 'preassigned-merge') x
  ), nucleus as materialized (
    select distinct t.nucleus_number as number, t.nucleus from task t where t.nucleus is not null
  ), sharing as materialized (  -- queues whose default output storage is an input storage of the nucleus
    select distinct f.nucleus, w.queue
      from brokerage.first_nucleus_queue f
      join resource.queue_storage r on r.setup = p_setup and r.queue = f.queue and r.direction = 'read_lan'
                                   and r.scope = 'default'
      join resource.queue_storage w on w.setup = p_setup and w.storage = r.storage and w.direction = 'write_lan'
                                   and w.scope = 'default' and w.position = 1
     where f.setup = p_setup
  ), near as materialized (
    select n.number as nucleus, u.number as queue,
           u.is_nucleus and u.panda_site is not distinct from n.nucleus as is_nucleus_queue,
           coalesce(u.storage_site = n.nucleus, false) as is_own,
           coalesce(u.is_nucleus and u.panda_site = n.nucleus or u.status = 'online' and o.queue is not null,
                    false) as is_near,
           l.closeness,
           case when l.src is not null then coalesce(l.queued, 0) end as queued,
           case when l.src is not null then coalesce(l.queued_express, 0) end as queued_express,
           coalesce(l.mbps_1h, l.mbps_1d, l.mbps_1w) as mbps
      from nucleus n
     cross join unified u
      left join resource.link l on l.setup = p_setup and l.dst = n.nucleus and l.src = u.storage_site
      left join sharing o on o.nucleus = n.nucleus and o.queue = u.queue
  ), share as materialized (
    select distinct t.share_number as number, t.gshare, t.resource_type from task t
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
  ), counted as materialized (
    select s.number as share, u.number as queue, c.running, c.starting, c.activated, c.assigned, c.defined
      from workload.job_count c
      join unified u on u.queue = c.queue
      join share s on s.gshare = c.gshare
     where c.setup = p_setup
  ), typed as materialized (
    select s.queue, s.gshare, s.resource_type,
           coalesce(sum(s.njobs) filter (where s.status = 'running'), 0) as running,
           coalesce(sum(s.njobs) filter (where s.status = 'starting'), 0) as starting,
           coalesce(sum(s.njobs) filter (where s.status = 'activated'), 0) as activated,
           coalesce(sum(s.njobs) filter (where s.status = 'assigned'), 0) as assigned,
           coalesce(sum(s.njobs) filter (where s.status = 'defined'), 0) as defined
      from workload.job_statistic s
     where s.setup = p_setup and p_base_profile <> 'documented'
     group by s.queue, s.gshare, s.resource_type
  ), mix as materialized (  -- of which types the jobs of a task are, where
    select distinct t.mix_number as number, t.share_number, t.gshare, t.resource_type, t.resource_types_at
      from task t
  ), type_count as materialized (
    select m.number as mix, u.number as queue, sum(c.running)::bigint as running, sum(c.starting)::bigint as starting,
           sum(c.activated)::bigint as activated, sum(c.assigned)::bigint as assigned, sum(c.defined)::bigint as defined
      from typed c
      join unified u on u.queue = c.queue
      join mix m on m.gshare = c.gshare
                and case when m.resource_types_at ? c.queue then m.resource_types_at -> c.queue ? c.resource_type
                         else c.resource_type = m.resource_type end
     group by m.number, u.number
  ), load as materialized (  -- jobs and slots at queues; by one number, so that a join knows it is unique
    select x.place, sum(x.running)::bigint as running, sum(x.starting)::bigint as starting,
           sum(x.activated)::bigint as activated, sum(x.assigned)::bigint as assigned,
           sum(x.defined)::bigint as defined, sum(x.numslots)::bigint as numslots,
           sum(x.type_running)::bigint as type_running, sum(x.type_starting)::bigint as type_starting,
           sum(x.type_activated)::bigint as type_activated, sum(x.type_assigned)::bigint as type_assigned,
           sum(x.type_defined)::bigint as type_defined
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
  ), input as materialized (
    select t.number as task, i.position, i.dataset, t.is_merging, t.only_complete, t.shared_files,
           t.input_pre_staging or coalesce(d.distributed, false) as comes_anyway
      from task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d)
  ), dataset as materialized (
    select i.dataset, count(f.lfn) as files, coalesce(sum(f.size), 0) as bytes
      from (select distinct dataset from input) i
      left join workload.dataset_file f on f.setup = p_setup and f.dataset = i.dataset
     group by i.dataset
  ), cover as materialized (  -- what of a dataset a queue has: all of it, or something, on disk or with tape
    select r.dataset, u.number as queue,
           coalesce(bool_or(r.is_complete) filter (where not s.is_tape), false) as all_on_disk,
           coalesce(bool_or(r.is_complete), false) as all_there,
           coalesce(bool_or(true) filter (where not s.is_tape), false) as some_on_disk
      from workload.replica_state r
      join resource.storage_of_queue s on s.setup = p_setup and s.storage = r.storage and s.direction = 'read_lan'
       and case when p_analysis then exists (select from resource.storage_for_analysis a
                                              where a.setup = s.setup and a.queue = s.queue
                                                and a.direction = s.direction and a.scope = s.scope)
                else s.scope = 'default' end
      join unified u on u.queue = s.queue
     where r.setup = p_setup and r.dataset in (select dataset from dataset)
     group by r.dataset, u.number
  ), partly as materialized (  -- files of incomplete replicas, each once
    select c.dataset, c.queue, f.lfn, min(f.size) as size, bool_or(not s.is_tape) as on_disk
      from cover c
      join unified u on u.number = c.queue
      join resource.storage_of_queue s on s.setup = p_setup and s.queue = u.queue and s.direction = 'read_lan'
       and case when p_analysis then exists (select from resource.storage_for_analysis a
                                              where a.setup = s.setup and a.queue = s.queue
                                                and a.direction = s.direction and a.scope = s.scope)
                else s.scope = 'default' end
      join workload.replica_state r on r.setup = p_setup and r.dataset = c.dataset and r.storage = s.storage
                                   and not r.is_complete
      join workload.dataset_file f on f.setup = p_setup and f.dataset = c.dataset
                                  and case when r.lfns is null then f.position <= r.found else f.lfn = any (r.lfns) end
     where not c.all_there
     group by c.dataset, c.queue, f.lfn
  ), partial as materialized (
    select p.dataset, p.queue, count(*) filter (where p.on_disk) as disk_files,
           coalesce(sum(p.size) filter (where p.on_disk), 0) as disk_bytes,
           count(*) as files, coalesce(sum(p.size), 0) as bytes
      from partly p group by p.dataset, p.queue
  ), held as materialized (  -- which part of an input dataset counts for a task at a queue
    select i.task, c.queue, i.dataset, i.shared_files,
           c.all_on_disk or i.is_merging and c.some_on_disk as disk_whole, c.all_there or i.is_merging as reach_whole,
           i.position = 1 and not i.only_complete and not c.all_there as parts_count
      from input i
      join cover c on c.dataset = i.dataset
  ), available as materialized (
    select h.task, h.queue,
           sum(case when h.disk_whole then d.files
                    when h.parts_count then coalesce(p.disk_files, 0)
                    else 0 end)::bigint as disk_files,
           sum(case when h.disk_whole then d.bytes
                    when h.parts_count then coalesce(p.disk_bytes, 0)
                    else 0 end)::bigint as disk_bytes,
           sum(case when h.reach_whole then d.files
                    when h.parts_count then coalesce(p.files, 0)
                    else 0 end)::bigint as files,
           sum(case when h.reach_whole then d.bytes
                    when h.parts_count then coalesce(p.bytes, 0)
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
  ), of_pair as materialized (  -- what few pairs have of their own
    select x.pair, bool_or(x.alone) as alone, sum(x.disk_files)::bigint as disk_files,
           sum(x.disk_bytes)::bigint as disk_bytes, sum(x.files)::bigint as files, sum(x.bytes)::bigint as bytes
      from (select h.task * cardinality(p_queues) + h.queue as pair, h.alone, null::bigint as disk_files,
                   null::bigint as disk_bytes, null::bigint as files, null::bigint as bytes
              from chosen h
            union all
            select a.task * cardinality(p_queues) + q.number, null, a.disk_files, a.disk_bytes, a.files, a.bytes
              from available a
              join queue q on q.unified = a.queue) x
     group by x.pair
  ), unreadable as materialized (
    -- tasks of which an input dataset cannot be read over WAN anywhere (input-completeness)
    select distinct i.task
      from input i
     where p_base_profile <> 'documented'
       and not i.comes_anyway
       and not exists (select from brokerage.input_source r
                        where r.setup = p_setup and r.dataset = i.dataset and r.can_read_wan)
  ), refusal as materialized (
    select k.number as policy, u.number as queue, r.refusal
      from brokerage.zero_share_refusals(p_setup, (select array_agg(t.task_id) from task t), p_base_profile) r
      join (select distinct t.policy_number as number, t.share_key from task t) k on k.share_key = r.share_key
      join unified u on u.queue = r.queue
  ), needed as materialized (
    select distinct t.software_number as number, t.software_key, t.level from task t
  ), software as materialized (
    select x.place, min(x.problem) as problem, min(x.percent) as percent
      from (select k.number * cardinality(p_queues) + u.number as place, r.problem, null::float8 as percent
              from brokerage.software_problems(p_setup, (select array_agg(t.task_id) from task t), p_base_profile,
                                               p_analysis) r
              join needed k on k.software_key = r.software_key
              join unified u on u.queue = r.queue
            union all
            select k.number * cardinality(p_queues) + u.number, null, v.percent
              from needed k
              join resource.architecture_level v on v.setup = p_setup and v.level = k.level
              join unified u on u.queue = v.queue) x
     group by x.place
  )
  select t.number, o.queue,
         w.alone is not null, coalesce(w.alone, false),
         o.is_nucleus_queue, o.is_near, o.is_own, o.closeness, o.queued, o.queued_express, o.mbps, o.running,
         o.starting, o.activated, o.assigned, o.defined, o.numslots,
         o.type_running, o.type_starting, o.type_activated, o.type_assigned, o.type_defined,
         coalesce(w.disk_files, 0), coalesce(w.disk_bytes, 0), coalesce(w.files, 0), coalesce(w.bytes, 0),
         coalesce(w.disk_bytes, 0) >= t.input_bytes,
         t.is_readable,
         o.refusal, o.problem, o.percent
    from (select t.number, t.class_number, t.input_bytes, w.task is null as is_readable
            from task t
            left join unreadable w on w.task = t.number
          offset 0) t
    join (select k.number as class, q.number as queue,
                 coalesce(n.is_nucleus_queue, false) as is_nucleus_queue, coalesce(n.is_near, false) as is_near,
                 coalesce(n.is_own, false) as is_own,
                 n.closeness, n.queued::float8 as queued, n.queued_express::float8 as queued_express, n.mbps,
                 coalesce(l.running, 0) as running, coalesce(l.starting, 0) as starting,
                 coalesce(l.activated, 0) as activated, coalesce(l.assigned, 0) as assigned,
                 coalesce(l.defined, 0) as defined, l.numslots, l.type_running, l.type_starting, l.type_activated,
                 l.type_assigned, l.type_defined, z.refusal, s.problem, s.percent
            from (select distinct t.class_number as number, t.nucleus_number, t.mix_number, t.policy_number,
                         t.software_number
                    from task t) k
           cross join queue q
            left join near n on n.nucleus = k.nucleus_number and n.queue = q.unified
            left join load l on l.place = k.mix_number * cardinality(p_queues) + q.unified
            left join refusal z on z.policy = k.policy_number and z.queue = q.unified
            left join software s on s.place = k.software_number * cardinality(p_queues) + q.unified
          offset 0) o on o.class = t.class_number
    left join of_pair w on w.pair = t.number * cardinality(p_queues) + o.queue
$$;

comment on function brokerage.facts_of_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text, boolean) is
  'What tasks and queues have with each other, as rules see it: one row for each task and queue, by their places in '
  'the two arrays. p_analysis: software is compared as for analysis; null = by the label of each task.';
