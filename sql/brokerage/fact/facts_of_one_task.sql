-- Explanations use this for one task: the session keeps the plan, since planning takes longer than running.
create or replace function brokerage.facts_of_one_task(
  p_setup text, p_task_id bigint, p_base_profile text, p_algorithm text
) returns brokerage.task_facts[]
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  return array(select f from brokerage.facts_of_tasks(p_setup, array[p_task_id], p_base_profile, p_algorithm) f);
end $$;

comment on function brokerage.facts_of_one_task(text, bigint, text, text) is
  'A task as rules see it, in an array of one element: brokerage.facts_of_tasks with a plan that the session keeps. '
  'The array is empty if the task does not exist.';
