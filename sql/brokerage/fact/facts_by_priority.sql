-- The session keeps the plan for up to 20 tasks, since planning takes longer than running.
create or replace function brokerage.facts_by_priority(
  p_setup text, p_task_ids bigint[], p_base_profile text, p_algorithm text
) returns brokerage.task_facts[]
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  if cardinality(p_task_ids) > 20 then
    perform set_config('enable_seqscan', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return array(select f
                 from brokerage.facts_of_tasks(p_setup, p_task_ids, p_base_profile, p_algorithm) f
                order by f.current_priority desc, f.task_id);
end $$;

comment on function brokerage.facts_by_priority(text, bigint[], text, text) is
  'The facts of tasks (brokerage.facts_of_tasks) as an array, the highest current priority first. A task that does not '
  'exist is left out.';
