-- In analysis few pairs of task and queue have these facts: the input as anal-locality sees it, and the outcome of the
-- task's jobs there (analysis-candidates.md, anal-locality; analysis-load.md, failed-jobs). Each list of datasets is
-- read once. Long because it is one query whose parts share materialised rows.
create or replace function brokerage.facts_of_locality(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text
) returns setof brokerage.locality_facts
language sql stable as $$
  with task as materialized (
    select f.ordinality as number, f.preassigned, i.datasets,
           dense_rank() over (order by i.datasets, f.preassigned) as input_number
      from unnest(p_tasks) with ordinality f
      left join (select i.task_id, array_agg(i.dataset order by i.position) as datasets
                   from workload.task_dataset i
                   join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
                  where i.setup = p_setup and i.task_id in (select u.task_id from unnest(p_tasks) u)
                    and i.direction = 'input' and not workload.is_pseudo(d)
                  group by i.task_id) i on i.task_id = f.task_id
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.queue, f.unified_name
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select u.number, u.queue, u.runs_analysis from brokerage.unified_queues(p_queues) u
  ), input as materialized (
    select distinct t.input_number as number, t.preassigned, i.dataset, i.position, d.distributed
      from task t
     cross join unnest(t.datasets) with ordinality i(dataset, position)
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
  ), replica as materialized (
    select r.dataset, r.storage, r.vp, r.found, r.total, r.found > 0 as has_files,
           coalesce(s.is_tape, false) as is_tape, r.is_complete
      from workload.replica_state r
      left join resource.storage s on s.setup = r.setup and s.storage = r.storage
     where r.setup = p_setup and r.dataset in (select i.dataset from input i)
  ), dataset as materialized (  -- whether parts of the input count; whether virtual placements count
    select i.dataset,
           not coalesce(bool_or(r.is_complete and (p_base_profile = 'documented' or not r.is_tape)), false)
           or p_base_profile <> 'documented' and bool_or(i.distributed) as parts_count,
           p_base_profile = 'documented'
           or not coalesce(bool_or(not r.vp and not r.is_tape and (r.is_complete or i.distributed)), false) as vp_counts
      from input i
      left join replica r on r.dataset = i.dataset
     group by i.dataset
  ), there as materialized (
    -- on_disk: whether a copy that counts is on disk, null if none counts; found, total: files of the largest part
    select d.dataset, u.number as queue,
           bool_or(not r.is_tape) filter (where (r.is_complete or d.parts_count and r.has_files)
                                          and (d.vp_counts or not coalesce(r.vp, false))) as on_disk,
           max(r.found) filter (where r.vp is not true and not r.is_complete) as found,
           max(r.total) filter (where r.vp is not true and not r.is_complete) as total
      from dataset d
      join replica r on r.dataset = d.dataset
      join resource.storage_for_analysis s on s.setup = p_setup and s.storage = r.storage and s.direction = 'read_lan'
      join unified u on u.queue = s.queue
     group by d.dataset, u.number
  ), copy as materialized (
    select t.dataset, t.queue, t.on_disk from there t where t.on_disk is not null
  ), placed as materialized (
    -- how near a queue is to all of an input: 4 all on disk, 3 all there, 2 some on disk, 1 some there, 0 only parts
    -- that do not count; a queue without any has no row
    select i.number as input, u.queue, min(i.dataset) filter (where c.dataset is null) as missing,
           case when bool_and(c.on_disk is true) then 4
                when bool_and(c.dataset is not null) then 3
                when bool_or(c.on_disk) then 2
                when bool_or(c.dataset is not null) then 1
                else 0 end as level,
           sum(case when c.on_disk then 1 when not c.on_disk then 0.001 else 0 end) as copies,
           n.runs_analysis or bool_or(coalesce(n.queue = any (i.preassigned), false)) as is_candidate
      from (select distinct i.number, c.queue from input i join there c on c.dataset = i.dataset) u
      join unified n on n.number = u.queue
      join input i on i.number = u.number
      left join copy c on c.dataset = i.dataset and c.queue = u.queue
     group by i.number, u.queue, n.runs_analysis
  ), best as materialized (  -- only candidates (anal-initial), since other queues cannot be used
    select p.input, max(p.level) as level from placed p where p.is_candidate group by p.input
  ), input_of_queue as materialized (
    select p.input, p.queue, b.level as best_level,
           case when p_base_profile = 'documented' then case when p.level < 3 then m.said end
                when p.level = 0 then m.said
                when p.level < b.level
                then case when p.missing is null then 'its input is there on tape, elsewhere on disk'
                          else m.said || case when b.level < 3 then ', other queues have more on disk'
                                              else '' end end end as problem,
           case when p_base_profile = 'documented' or b.level > 2 then p.copies end as copies
      from placed p
      left join best b on b.input = p.input
      left join there t on t.dataset = p.missing and t.queue = p.queue
     cross join lateral (
       select case when t.found > 0 then format('%s of %s files of dataset %s are there', t.found, t.total, p.missing)
                   else format('dataset %s is not there', p.missing) end) m(said)
  )
  select x.pair, bool_or(x.is_placed), min(x.problem), sum(x.copies), max(x.best_level), sum(x.failed)::bigint,
         sum(x.closed)::bigint, sum(x.finished)::bigint
    from (select t.number * cardinality(p_queues) + q.number as pair, true as is_placed, i.problem, i.copies,
                 i.best_level, null::bigint as failed, null::bigint as closed, null::bigint as finished
            from input_of_queue i
            join task t on t.input_number = i.input
            join queue q on q.unified = i.queue
          union all
          select o.pair, null, null, null, null, o.failed, o.closed, o.finished
            from brokerage.outcomes_of_tasks(p_setup, p_tasks, p_queues) o) x
   group by x.pair
$$;

comment on function brokerage.facts_of_locality(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
  'The input of analysis tasks at queues and the outcome of their jobs there, one row per pair that has either.';
