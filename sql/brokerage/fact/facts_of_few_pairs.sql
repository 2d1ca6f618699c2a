-- brokerage.facts_of_pairs with a plan that a session keeps: planning it takes 20 ms, which matters if tasks are
-- decided one at a time. All rows go through a buffer, which matters if there are many.
create or replace function brokerage.facts_of_few_pairs(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text
) returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean,
                 is_nucleus_queue boolean, is_near boolean, is_own boolean, closeness float8, queued float8,
                 queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
                 defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint,
                 type_assigned bigint, type_defined bigint, available_files bigint, available_bytes bigint,
                 reachable_files bigint, reachable_bytes bigint, input_is_local boolean, has_readable_source boolean,
                 zero_share text, software text, platform_level_percent float8)
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query select f.* from brokerage.facts_of_pairs(p_setup, p_tasks, p_queues, p_base_profile) f;
end $$;

comment on function brokerage.facts_of_few_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
  'The same as brokerage.facts_of_pairs, faster for some hundred pairs: its plan is kept.';
