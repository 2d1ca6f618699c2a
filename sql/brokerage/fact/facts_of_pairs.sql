-- The facts of pairs are put together from the facts of subjects. The planner inlines the function into the query of
-- the profile (one SELECT, no SET). Two production tasks rarely agree in all shared facts (nucleus, share, priority,
-- software), so these are joined task by task. Many analysis tasks agree, so brokerage.facts_of_analysis_pairs joins
-- the facts once for each class of tasks. Pairs come task by task, so the rows of a task are near each other when they
-- are gathered.
create or replace function brokerage.facts_of_pairs(
  p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean,
                 is_nucleus_queue boolean, is_near boolean, is_own boolean, closeness float8, queued float8,
                 queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
                 defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint,
                 type_assigned bigint, type_defined bigint, available_files bigint, available_bytes bigint,
                 reachable_files bigint, reachable_bytes bigint, input_is_local boolean, has_readable_source boolean,
                 zero_share text, software text, platform_level_percent float8)
language sql stable as $$
  select t.number, q.number, coalesce(w.is_preassigned, false), coalesce(w.alone, false),
         coalesce(n.is_nucleus_queue, false), coalesce(n.is_near, false), coalesce(n.is_own, false), n.closeness,
         n.queued, n.queued_express, n.mbps, coalesce(l.running, 0), coalesce(l.starting, 0), coalesce(l.activated, 0),
         coalesce(l.assigned, 0), coalesce(l.defined, 0), l.numslots, l.type_running, l.type_starting, l.type_activated,
         l.type_assigned, l.type_defined, coalesce(w.disk_files, 0), coalesce(w.disk_bytes, 0), coalesce(w.files, 0),
         coalesce(w.bytes, 0), coalesce(w.disk_bytes, 0) >= t.input_bytes, t.is_readable, z.refusal, s.problem,
         s.percent
    from (select k.ordinality as number, k.nucleus_number, k.mix_number, k.policy_number, k.software_number,
                 k.is_readable, t.input_bytes
            from unnest((p_subjects).keys) with ordinality k
            join unnest(p_tasks) with ordinality t on t.ordinality = k.ordinality
          offset 0) t
   cross join (select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified
                 from unnest(p_queues) with ordinality f offset 0) q
    left join unnest((p_subjects).network) n on n.place = t.nucleus_number * cardinality(p_queues) + q.unified
    left join unnest((p_subjects).load) l on l.place = t.mix_number * cardinality(p_queues) + q.unified
    left join unnest((p_subjects).policies) z on z.place = t.policy_number * cardinality(p_queues) + q.unified
    left join unnest((p_subjects).software) s on s.place = t.software_number * cardinality(p_queues) + q.unified
    left join unnest((p_subjects).placement) w on w.pair = t.number * cardinality(p_queues) + q.number
$$;

comment on function brokerage.facts_of_pairs(
  brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'Common facts of tasks and queues, as rules of production see them: one row for each task and queue, named by their '
  'places in the two arrays.';
