-- Facts of tasks and queues for analysis: brokerage.facts_of_pairs, the input as anal-locality sees it, the outcome
-- of the task's jobs there, and the jobs of its user and of all users there (analysis-candidates.md, anal-locality;
-- analysis-load.md, failed-jobs; analysis-load.md, stabilizer). Lists of datasets, shares and users are evaluated
-- once each.
create or replace function brokerage.facts_of_analysis_pairs(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text
) returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean,
                 is_nucleus_queue boolean, is_near boolean, is_own boolean, closeness float8, queued float8,
                 queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
                 defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint,
                 type_assigned bigint, type_defined bigint, available_files bigint, available_bytes bigint,
                 reachable_files bigint, reachable_bytes bigint, input_is_local boolean, has_readable_source boolean,
                 zero_share text, software text, platform_level_percent float8, input_problem text, input_copies float8,
                 failed bigint, closed bigint, finished bigint, user_queued bigint, user_running bigint, users bigint,
                 users_running bigint, to_running_rate float8)
language sql stable as $$
  with task as materialized (
    select f.ordinality as number, f.task_id, f.gshare, f.label, f.user_name, f.included_sites, f.sites, f.preassigned,
           i.datasets, i.nothing_there,
           dense_rank() over (order by f.gshare, f.label) as share_number,
           dense_rank() over (order by f.gshare, f.label, f.user_name) as user_number,
           dense_rank() over (order by i.datasets, f.preassigned) as input_number
      from unnest(p_tasks) with ordinality f
      left join (select i.task_id, array_agg(i.dataset order by i.position) as datasets,
                        format('dataset %s is not there', min(i.dataset)) as nothing_there
                   from workload.task_dataset i
                   join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
                  where i.setup = p_setup and i.task_id in (select u.task_id from unnest(p_tasks) u)
                    and i.direction = 'input' and not workload.is_pseudo(d)
                  group by i.task_id) i on i.task_id = f.task_id
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.queue, f.unified_name,
           f.running_all,
           coalesce(f.type in ('analysis', 'unified') or f.attributes ? 'grandly_unified', false) as is_listed
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select distinct on (q.unified) q.unified as number, q.unified_name as queue, q.running_all, q.is_listed
      from queue q
     order by q.unified
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
  ), dataset as materialized (  -- whether parts of it count; whether virtual placements do
    select i.dataset,
           not coalesce(bool_or(r.is_complete and (p_base_profile = 'documented' or not r.is_tape)), false)
           or p_base_profile <> 'documented' and bool_or(i.distributed) as parts_count,
           p_base_profile = 'documented'
           or not coalesce(bool_or(not r.vp and not r.is_tape and (r.is_complete or i.distributed)), false) as vp_counts
      from input i
      left join replica r on r.dataset = i.dataset
     group by i.dataset
  ), there as materialized (
    -- on_disk: of copies that count, null where none does; found, total: files of the largest part
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
    -- how near a queue is to all of an input: 4 all on disk, 3 all there, 2 some on disk, 1 some there, 0 parts that
    -- do not count; without a row nothing is
    select i.number as input, u.queue, min(i.dataset) filter (where c.dataset is null) as missing,
           case when bool_and(c.on_disk is true) then 4
                when bool_and(c.dataset is not null) then 3
                when bool_or(c.on_disk) then 2
                when bool_or(c.dataset is not null) then 1
                else 0 end as level,
           sum(case when c.on_disk then 1 when not c.on_disk then 0.001 else 0 end) as copies,
           n.is_listed or coalesce(n.queue = any (i.preassigned), false) as is_candidate
      from (select distinct i.number, c.queue from input i join there c on c.dataset = i.dataset) u
      join unified n on n.number = u.queue
      join input i on i.number = u.number
      left join copy c on c.dataset = i.dataset and c.queue = u.queue
     group by i.number, i.preassigned, u.queue, n.queue, n.is_listed
  ), best as materialized (  -- of the candidates (anal-initial): what others have is out of reach
    select p.input, max(p.level) as level from placed p where p.is_candidate group by p.input
  ), input_of_queue as materialized (
    select p.input, p.queue,
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
  ), result as materialized (
    select t.number as task, q.number as queue, sum(r.failed)::bigint as failed, sum(r.closed)::bigint as closed,
           sum(r.finished)::bigint as finished
      from (select t.number, t.task_id,
                   resource.clock(p_setup)
                   - interval '1 hour' * (resource.config_value(p_setup, 'jedi', 'anal_jobbroker',
                                                                'TW_DONE_JOB_STAT') #>> '{}')::float8 as since
              from task t) t
      join workload.task_outcome r on r.setup = p_setup and r.task_id = t.task_id
                                  and r.minute >= date_trunc('minute', t.since, 'utc')
      join queue q on r.queue in (q.queue, q.unified_name)
     group by t.number, q.number
  ), of_pair as materialized (  -- what few pairs have of their own, by one number: a join knows it is unique
    select x.pair, bool_or(x.is_placed) as is_placed, min(x.problem) as problem, sum(x.copies) as copies,
           sum(x.failed)::bigint as failed, sum(x.closed)::bigint as closed, sum(x.finished)::bigint as finished
      from (select t.number * cardinality(p_queues) + q.number as pair, true as is_placed, i.problem, i.copies,
                   null::bigint as failed, null::bigint as closed, null::bigint as finished
              from input_of_queue i
              join task t on t.input_number = i.input
              join queue q on q.unified = i.queue
            union all
            select r.task * cardinality(p_queues) + r.queue, null, null, null, r.failed, r.closed, r.finished
              from result r) x
     group by x.pair
  ), share as materialized (
    select distinct t.share_number as number, t.gshare, t.label from task t
  ), of_user as materialized (  -- here: of the jobs of this database
    select s.number as share, u.number as queue, x.user_name, coalesce(sum(x.queued), 0)::bigint as queued,
           coalesce(sum(x.running), 0)::bigint as running,
           coalesce(sum(x.running) filter (where x.label is not null), 0) as running_here
      from share s
      join workload.user_queue_job x on x.setup = p_setup and x.gshare = s.gshare
                                    and coalesce(x.label = s.label, x.label is null)
      join unified u on u.queue = x.queue
     group by s.number, u.number, x.user_name
    having bool_or(x.label is null) or sum(x.queued) > 0 or sum(x.running) > 0
  ), users as materialized (
    select o.share, o.queue, count(*) filter (where o.user_name <> '_total') as listed,
           coalesce(max(o.running) filter (where o.user_name = '_total') + sum(o.running_here),
                    sum(o.running)) as running
      from of_user o
     group by o.share, o.queue
  ), owner as materialized (
    select distinct on (t.user_number) t.user_number as number, t.share_number, t.user_name from task t
     order by t.user_number
  ), own as materialized (
    select w.number as owner, o.queue, o.queued, o.running
      from owner w
      join of_user o on o.share = w.share_number and o.user_name = w.user_name
  ), rate as materialized (
    select s.number as share, u.number as queue, sum(r.rate) filter (where r.gshare <> '') as of_share,
           sum(r.rate) filter (where r.gshare = '') as of_all
      from workload.start_rate r
      join unified u on u.queue = r.queue
      join share s on r.gshare in ('', s.gshare)
     where r.setup = p_setup
     group by s.number, u.number
  ), standing as materialized (  -- what users and their shares have at queues, once for all tasks of a user
    select distinct on (o.number * cardinality(p_queues) + q.number)  -- each is one already: so that a join knows
           o.number * cardinality(p_queues) + q.number as place, q.queue as name, q.unified_name, q.running_all,
           w.queued, w.running,
           case when u.share is null then 1
                when p_base_profile = 'documented' then greatest(u.listed, 1)
                else u.listed + 1 end as users,
           u.running as users_running, x.of_share, x.of_all
      from owner o
     cross join queue q
      left join users u on u.share = o.share_number and u.queue = q.unified
      left join own w on w.owner = o.number and w.queue = q.unified
      left join rate x on x.share = o.share_number and x.queue = q.unified
  )
  select f.task_number, f.queue_number,
         case when p_base_profile = 'documented'
              then coalesce(s.name like any (t.included_sites || t.sites)
                            or s.unified_name like any (t.included_sites || t.sites),
                            false) else f.is_preassigned end,
         f.preassigned_alone, f.is_nucleus_queue, f.is_near, f.is_own, f.closeness, f.queued, f.queued_express, f.mbps,
         f.running, f.starting,
         f.activated, f.assigned, f.defined, f.numslots, f.type_running, f.type_starting, f.type_activated,
         f.type_assigned, f.type_defined,
         f.available_files, f.available_bytes, f.reachable_files, f.reachable_bytes, f.input_is_local,
         f.has_readable_source, f.zero_share, f.software, f.platform_level_percent,
         case when w.is_placed then w.problem else t.nothing_there end,
         case when t.datasets is null then 1
              when w.is_placed then w.copies
              when p_base_profile = 'documented' or t.level > 2 then 0 end,
         coalesce(w.failed, 0), coalesce(w.closed, 0), coalesce(w.finished, 0),
         s.queued, s.running, s.users, coalesce(s.users_running, f.running)::bigint,
         coalesce(s.of_share, s.of_all * f.running / nullif(s.running_all, 0), 0)
    from brokerage.facts_of_pairs(p_setup, p_tasks, p_queues, p_base_profile, true) f
    join (select t.*, b.level from task t left join best b on b.input = t.input_number) t on t.number = f.task_number
    join standing s on s.place = t.user_number * cardinality(p_queues) + f.queue_number
    left join of_pair w on w.pair = t.number * cardinality(p_queues) + f.queue_number
$$;

comment on function brokerage.facts_of_analysis_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
  'What tasks and queues have with each other, as rules of analysis_job see it: one row for each task and queue, '
  'by their places in the two arrays.';
