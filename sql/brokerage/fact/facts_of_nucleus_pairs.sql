-- Facts of each task and each nucleus, a row a pair: the input there, the space, the remaining work
-- (task-brokerage.md, task-data-locality; task-weights.md, Factors). Values that depend on datasets, tokens or share
-- and priority are computed once each. Long because it is one query: its parts share what they materialise.
create or replace function brokerage.facts_of_nucleus_pairs(
  p_setup text, p_tasks brokerage.task_facts[], p_nuclei brokerage.queue_facts[], p_base_profile text
) returns table (task_number bigint, queue_number bigint, is_preassigned boolean, remaining_work float8,
                 located_files bigint, located_bytes bigint, located_disk_files bigint, located_disk_bytes bigint,
                 space float8, weighed_space float8, space_total float8, output_problem text, wan_problem text)
language sql stable as $$
  with task as materialized (
    select f.ordinality as number, f.task_id, f.gshare, f.current_priority, f.nucleus, f.is_preset,
           t.task_broker_on_master,
           dense_rank() over (order by f.gshare, f.current_priority) as rung_number,
           p_base_profile <> 'documented' and f.full_chain is not null as is_chained
      from unnest(p_tasks) with ordinality f
      join workload.task t on t.setup = p_setup and t.task_id = f.task_id
  ), nucleus as materialized (
    select f.ordinality as number, f.queue as nucleus, f.remaining_work from unnest(p_nuclei) with ordinality f
  ), rung as materialized (
    select distinct t.rung_number as number, t.gshare, t.current_priority from task t
  ), work as materialized (  -- by one number, as what follows: a join then knows it is unique
    select r.number * cardinality(p_nuclei) + n.number as place, sum(w.work) as work
      from brokerage.work_at_nucleus w
      join nucleus n on n.nucleus = w.nucleus
      join rung r on r.gshare = w.gshare and r.current_priority <= w.priority
     where w.setup = p_setup
     group by r.number * cardinality(p_nuclei) + n.number
  ), site as materialized (  -- storages of the nuclei's queues; of a full-chain task those of the secondary nucleus
    select n.number as nucleus, c.is_chained, q.queue
      from nucleus n
     cross join (values (false), (true)) c(is_chained)
      left join resource.nucleus k on k.setup = p_setup and k.nucleus = n.nucleus
      left join brokerage.nucleus_site own on own.setup = p_setup and own.nucleus = n.nucleus
      join brokerage.nucleus_site s on s.setup = p_setup
       and s.nucleus = case
         when c.is_chained then coalesce(k.secondary_nucleus, own.attributes ->> 'secondaryNucleus', n.nucleus)
         else n.nucleus end
      join resource.queue q on q.setup = p_setup and q.panda_site = s.nucleus
                           and (q.role = 'nucleus' or q.queue = s.queue)
  ), input as materialized (
    select t.number as task, i.dataset
      from task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d) and (i.position = 1 or not coalesce(t.task_broker_on_master, false))
       and (p_base_profile = 'documented' or brokerage.is_scanned(i.dataset))
  ), dataset as materialized (
    select i.dataset, count(f.lfn) as files, coalesce(sum(f.size), 0) as bytes
      from (select distinct dataset from input) i
      left join workload.dataset_file f on f.setup = p_setup and f.dataset = i.dataset
     group by i.dataset
  ), held as materialized (
    select n.nucleus, d.dataset, s.is_tape, case when r.is_complete then d.files else r.found end as files,
           case when r.is_complete then d.bytes else coalesce(c.asize, p.bytes) end as bytes
      from (select distinct site.nucleus, site.queue from site where not site.is_chained) n
      join resource.storage_of_queue s on s.setup = p_setup and s.queue = n.queue and s.direction = 'read_lan'
                                      and s.scope = 'default'
      join workload.replica_state r on r.setup = p_setup and r.storage = s.storage and not coalesce(r.vp, false)
      join workload.replica c on c.setup = p_setup and c.dataset = r.dataset and c.storage = r.storage
      join dataset d on d.dataset = r.dataset
     cross join lateral (select case when not r.is_complete and c.asize is null then
                                       coalesce((select sum(f.size) from workload.dataset_file f
                                                  where f.setup = p_setup and f.dataset = r.dataset
                                                    and case when r.lfns is null then f.position <= r.found
                                                             else f.lfn = any (r.lfns) end), 0) end offset 0) p(bytes)
  ), best as materialized (
    select h.nucleus, h.dataset, max(h.files) as files, max(h.bytes) as bytes,
           max(h.files) filter (where not h.is_tape) as disk_files,
           max(h.bytes) filter (where not h.is_tape) as disk_bytes
      from held h
     group by h.nucleus, h.dataset
  ), located as materialized (
    select i.task * cardinality(p_nuclei) + b.nucleus as pair, sum(b.files)::bigint as files,
           sum(b.bytes)::bigint as bytes, coalesce(sum(b.disk_files), 0)::bigint as disk_files,
           coalesce(sum(b.disk_bytes), 0)::bigint as disk_bytes
      from input i
      join best b on b.dataset = i.dataset
     group by i.task * cardinality(p_nuclei) + b.nucleus
  ), output as materialized (
    select distinct on (n.nucleus, n.is_chained, o.storage) n.nucleus, n.is_chained, o.storage,
           o.position = 1
           and n.queue = min(n.queue collate "C") over (partition by n.nucleus, n.is_chained) as is_default,
           s.type, s.read_wan, s.write_wan, s.space_total,
           coalesce(s.space_free, 0) + coalesce(s.space_expired, 0)
           - case when p_base_profile = 'documented' then 0
                  else coalesce(s.space_min_free, 0) + coalesce(s.space_unavailable, 0) end as space
      from site n
      join resource.queue_storage o on o.setup = p_setup and o.queue = n.queue and o.direction = 'write_lan'
                                   and o.scope = 'default'
      left join resource.storage s on s.setup = p_setup and s.storage = o.storage
     order by n.nucleus, n.is_chained, o.storage, 4 desc
  ), outlet as materialized (  -- output tokens of each task; tasks with the same ones share what follows
    select o.task, dense_rank() over (order by o.is_chained, o.tokens) as number, o.is_chained, o.tokens
      from (select t.number as task, bool_or(t.is_chained) as is_chained,
                   array_agg(distinct coalesce(d.token, '')) as tokens
              from task t
              left join workload.task_dataset d on p_base_profile <> 'documented' and d.setup = p_setup
                                               and d.task_id = t.task_id and d.direction = 'output'
             where coalesce(d.token, '') not like 'ddd:%'
             group by t.number) o
  ), token as materialized (
    select o.number as outlet, o.is_chained, k.token
      from (select distinct on (outlet.number) outlet.number, outlet.is_chained, outlet.tokens
              from outlet
             order by outlet.number) o
     cross join unnest(o.tokens) k(token)
  ), place as materialized (  -- of each token the storage of each nucleus
    select distinct on (k.token, k.is_chained, o.nucleus) k.token, k.is_chained, o.nucleus, o.storage, o.space,
           o.space_total, o.read_wan, o.write_wan
      from (select distinct token.token, token.is_chained from token) k
      join output o
        on o.is_chained = k.is_chained
       and case when k.token = '' then o.is_default else brokerage.token_fit(k.token, o.storage, o.type) is not null end
     order by k.token, k.is_chained, o.nucleus, brokerage.token_fit(k.token, o.storage, o.type),
              o.is_default desc, o.storage collate "C"
  ), remaining_space as materialized (
    select k.outlet * cardinality(p_nuclei) + n.number as place, coalesce(min(p.space), 0) as space,
           (array_agg(p.space order by (p.space - trunc(brokerage.space_for(n.remaining_work))) / p.space_total,
                                       p.storage) filter (where p.space_total > 0))[1] as weighed_space,
           (array_agg(p.space_total order by (p.space - trunc(brokerage.space_for(n.remaining_work))) / p.space_total,
                                             p.storage) filter (where p.space_total > 0))[1] as space_total,
           min(case k.token when '' then 'it has no output storage'
                            else format('no storage there fits its output token %s', k.token)
                                 || coalesce(', which is ' || brokerage.pattern_problem(k.token), '') end)
             filter (where p.storage is null) as output_problem,
           coalesce(min(format('-source_blacklist: read_wan of %s is %s', p.storage,
                               p.read_wan)) filter (where p.read_wan in ('OFF', 'TEST')),
                    min(format('-destination_blacklist: write_wan of %s is %s', p.storage,
                               p.write_wan)) filter (where p.write_wan in ('OFF', 'TEST'))) as wan_problem
      from token k
     cross join nucleus n
      left join place p on p.token = k.token and p.is_chained = k.is_chained and p.nucleus = n.number
     group by k.outlet * cardinality(p_nuclei) + n.number
  )
  select t.number, n.number, t.is_preset and t.nucleus = n.nucleus, coalesce(w.work, 0),
         coalesce(l.files, 0), coalesce(l.bytes, 0), coalesce(l.disk_files, 0), coalesce(l.disk_bytes, 0),
         r.space, r.weighed_space, r.space_total, r.output_problem, r.wan_problem
    from task t
   cross join nucleus n
    left join work w on w.place = t.rung_number * cardinality(p_nuclei) + n.number
    left join located l on l.pair = t.number * cardinality(p_nuclei) + n.number
    left join outlet o on o.task = t.number
    left join remaining_space r on r.place = o.number * cardinality(p_nuclei) + n.number
$$;

comment on function brokerage.facts_of_nucleus_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
  'What tasks and nuclei have with each other, as rules of production_task see it: one row for each task and nucleus, '
  'by their places in the two arrays.';
