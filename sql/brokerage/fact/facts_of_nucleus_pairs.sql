-- The facts are the input at the nucleus, the space and the remaining work (task-brokerage.md, task-data-locality;
-- task-weights.md, Factors).
create or replace function brokerage.facts_of_nucleus_pairs(
  p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[], p_nuclei brokerage.queue_facts[]
) returns table (task_number bigint, queue_number bigint, is_preassigned boolean, remaining_work float8,
                 located_files bigint, located_bytes bigint, located_disk_files bigint, located_disk_bytes bigint,
                 space float8, weighed_space float8, space_total float8, output_problem text, wan_problem text)
language sql stable as $$
  select t.ordinality, n.ordinality, t.is_preset and t.nucleus = n.queue, coalesce(w.work, 0),
         coalesce(l.files, 0), coalesce(l.bytes, 0), coalesce(l.disk_files, 0), coalesce(l.disk_bytes, 0),
         r.space, r.weighed_space, r.space_total, r.output_problem, r.wan_problem
    from rows from (unnest(p_tasks), unnest((p_subjects).nucleus_keys)) with ordinality t
   cross join unnest(p_nuclei) with ordinality n
    left join unnest((p_subjects).work) w on w.place = t.rung * cardinality(p_nuclei) + n.ordinality
    left join unnest((p_subjects).located) l on l.pair = t.ordinality * cardinality(p_nuclei) + n.ordinality
    left join unnest((p_subjects).space) r on r.place = t.outlet * cardinality(p_nuclei) + n.ordinality
$$;

comment on function brokerage.facts_of_nucleus_pairs(
  brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'Common facts of tasks and nuclei, as rules of production_task see them: one row for each task and nucleus, named by '
  'their places in the two arrays.';
