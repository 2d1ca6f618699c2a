-- Facts of tasks and queues for production: what both have of brokerage.facts_of_analysis_pairs.
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
  select f.task_number, f.queue_number, f.is_preassigned, f.preassigned_alone, f.is_nucleus_queue, f.is_near,
         f.is_own, f.closeness, f.queued, f.queued_express, f.mbps, f.running, f.starting, f.activated,
         f.assigned, f.defined, f.numslots, f.type_running, f.type_starting, f.type_activated,
         f.type_assigned, f.type_defined, f.available_files, f.available_bytes, f.reachable_files,
         f.reachable_bytes, f.input_is_local, f.has_readable_source, f.zero_share, f.software,
         f.platform_level_percent
    from brokerage.facts_of_analysis_pairs(p_subjects, p_tasks, p_queues) f
$$;

comment on function brokerage.facts_of_pairs(
  brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'What tasks and queues have with each other, as rules of production see it: one row for each task and queue, by '
  'their places in the two arrays.';
