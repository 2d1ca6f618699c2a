-- brokerage.facts_of_pairs has the facts for production. Facts that tasks share are joined once for all tasks that
-- agree in all of them (class), since each further join costs every pair as much time as five rules. Joins use one
-- number, so that the planner knows that it is unique. Queues come class by class (a lateral join keeps this order), so
-- the rows of a task are near each other when they are gathered.
create or replace function brokerage.facts_of_analysis_pairs(
  p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
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
    select k.ordinality as number, k.*, t.input_bytes, i.has_input, i.nothing_there, i.input_level
      from unnest((p_subjects).keys) with ordinality k
      join unnest(p_tasks) with ordinality t on t.ordinality = k.ordinality
      left join unnest((p_subjects).inputs) with ordinality i on i.ordinality = k.ordinality
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.running_all
      from unnest(p_queues) with ordinality f
  )
  select t.number, o.queue, coalesce(w.is_preassigned, false), coalesce(w.alone, false),
         o.is_nucleus_queue, o.is_near, o.is_own, o.closeness, o.queued, o.queued_express, o.mbps, o.running,
         o.starting, o.activated, o.assigned, o.defined, o.numslots,
         o.type_running, o.type_starting, o.type_activated, o.type_assigned, o.type_defined,
         coalesce(w.disk_files, 0), coalesce(w.disk_bytes, 0), coalesce(w.files, 0), coalesce(w.bytes, 0),
         coalesce(w.disk_bytes, 0) >= t.input_bytes, t.is_readable, o.refusal, o.problem, o.percent,
         case when w.is_placed then w.problem else t.nothing_there end,
         case when not t.has_input then 1
              when w.is_placed then w.copies
              when (p_subjects).base_profile = 'documented' or t.input_level > 2 then 0 end,
         coalesce(w.failed, 0), coalesce(w.closed, 0), coalesce(w.finished, 0),
         w.user_queued, w.user_running, o.users, o.users_running, o.to_running_rate
    from (select t.number, t.class_number, t.input_bytes, t.is_readable, t.has_input, t.nothing_there, t.input_level
            from task t offset 0) t
    join (select q.class, q.number as queue,
                 coalesce(n.is_nucleus_queue, false) as is_nucleus_queue, coalesce(n.is_near, false) as is_near,
                 coalesce(n.is_own, false) as is_own, n.closeness, n.queued, n.queued_express, n.mbps,
                 coalesce(l.running, 0) as running, coalesce(l.starting, 0) as starting,
                 coalesce(l.activated, 0) as activated, coalesce(l.assigned, 0) as assigned,
                 coalesce(l.defined, 0) as defined, l.numslots, l.type_running, l.type_starting, l.type_activated,
                 l.type_assigned, l.type_defined, z.refusal, s.problem, s.percent, coalesce(l.users, 1) as users,
                 coalesce(l.users_running, l.running, 0) as users_running,
                 coalesce(l.of_share, l.of_all * coalesce(l.running, 0) / nullif(q.running_all, 0),
                          0) as to_running_rate
            from (select distinct t.class_number as number, t.nucleus_number, t.mix_number, t.policy_number,
                         t.software_number
                    from task t) k
           cross join lateral (select q.number, q.unified, q.running_all, k.number as class from queue q offset 0) q
            left join unnest((p_subjects).network) n on n.place = k.nucleus_number * cardinality(p_queues) + q.unified
            left join unnest((p_subjects).load) l on l.place = k.mix_number * cardinality(p_queues) + q.unified
            left join unnest((p_subjects).policies) z on z.place = k.policy_number * cardinality(p_queues) + q.unified
            left join unnest((p_subjects).software) s on s.place = k.software_number * cardinality(p_queues) + q.unified
          offset 0) o on o.class = t.class_number
    left join unnest((p_subjects).placement) w on w.pair = t.number * cardinality(p_queues) + o.queue
$$;

comment on function brokerage.facts_of_analysis_pairs(
  brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'Common facts of tasks and queues, as rules of analysis_job see them: one row for each task and queue, named by '
  'their places in the two arrays.';
