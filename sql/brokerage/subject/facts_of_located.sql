-- Each dataset whose place counts is counted at its best input storage (task-brokerage.md, task-data-locality).
create or replace function brokerage.facts_of_located(
  p_setup text, p_tasks brokerage.task_facts[], p_nuclei brokerage.queue_facts[], p_base_profile text
) returns setof brokerage.located_facts
language sql stable as $$
  with input as materialized (
    select t.ordinality as task, i.dataset
      from unnest(p_tasks) with ordinality t
      join workload.task w on w.setup = p_setup and w.task_id = t.task_id
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d) and (i.position = 1 or not coalesce(w.task_broker_on_master, false))
       and (p_base_profile = 'documented' or brokerage.is_scanned(i.dataset))
  ), dataset as materialized (
    select i.dataset, count(f.lfn) as files, coalesce(sum(f.size), 0) as bytes
      from (select distinct dataset from input) i
      left join workload.dataset_file f on f.setup = p_setup and f.dataset = i.dataset
     group by i.dataset
  ), held as materialized (
    select n.nucleus, d.dataset, s.is_tape, case when f.is_complete then d.files else f.found end as files,
           case when f.is_complete then d.bytes else coalesce(r.asize, p.bytes) end as bytes
      from (select distinct q.nucleus, q.queue from brokerage.nucleus_queues(p_setup, p_nuclei) q
             where not q.is_chained) n
      join resource.storage_of_queue s on s.setup = p_setup and s.queue = n.queue and s.direction = 'read_lan'
                                      and s.scope = 'default'
      join workload.replica r on r.setup = p_setup and r.storage = s.storage and not coalesce(r.vp, false)
      join dataset d on d.dataset = r.dataset
     cross join lateral workload.replica_figures(r, d.files) f
     cross join lateral (select case when not f.is_complete and r.asize is null then
                                       coalesce((select sum(o.size) from workload.dataset_file o
                                                  where o.setup = p_setup and o.dataset = r.dataset
                                                    and case when r.lfns is null then o.position <= f.found
                                                             else o.lfn = any (r.lfns) end), 0) end offset 0) p(bytes)
  ), best as materialized (
    select h.nucleus, h.dataset, max(h.files) as files, max(h.bytes) as bytes,
           max(h.files) filter (where not h.is_tape) as disk_files,
           max(h.bytes) filter (where not h.is_tape) as disk_bytes
      from held h
     group by h.nucleus, h.dataset
  )
  select i.task * cardinality(p_nuclei) + b.nucleus, sum(b.files)::bigint, sum(b.bytes)::bigint,
         coalesce(sum(b.disk_files), 0)::bigint, coalesce(sum(b.disk_bytes), 0)::bigint
    from input i
    join best b on b.dataset = i.dataset
   group by i.task * cardinality(p_nuclei) + b.nucleus
$$;

comment on function brokerage.facts_of_located(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
  'Input of tasks at nuclei, one row per pair that has input.';
