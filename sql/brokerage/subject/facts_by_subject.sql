-- Each subject has a query. With some thousand pairs or more, each query is planned for these tasks and queues; with
-- fewer pairs the session keeps the plans (planning all of them takes 20 ms).
create or replace function brokerage.facts_by_subject(
  p_setup text, p_algorithm text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text
) returns brokerage.facts_by_subject
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_facts brokerage.facts_by_subject;
  v_analysis boolean := case when p_algorithm = 'analysis_job' then true end;
  v_locality brokerage.locality_facts[];
begin
  if cardinality(p_tasks) * cardinality(p_queues) > 5000 then
    perform set_config('enable_seqscan', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  v_facts.base_profile := p_base_profile;
  if p_algorithm = 'production_task' then
    v_facts.nucleus_keys := array(select k from brokerage.nucleus_keys(p_setup, p_tasks, p_base_profile) k);
    v_facts.work := array(select f from brokerage.facts_of_work(p_setup, p_tasks, v_facts.nucleus_keys, p_queues,
                                                               p_base_profile) f);
    v_facts.located := array(select f from brokerage.facts_of_located(p_setup, p_tasks, p_queues, p_base_profile) f);
    v_facts.space := array(
      select f from brokerage.facts_of_space(p_setup, v_facts.nucleus_keys, p_queues, p_base_profile) f);
    return v_facts;
  end if;
  v_facts.keys := array(select k from brokerage.task_keys(p_setup, p_tasks, p_base_profile, v_analysis) k);
  v_facts.network := array(
    select f from brokerage.facts_of_network(p_setup, p_tasks, v_facts.keys, p_queues, p_base_profile) f);
  v_facts.load := array(
    select f from brokerage.facts_of_load(p_setup, p_tasks, v_facts.keys, p_queues, p_base_profile) f);
  v_facts.policies := array(
    select f from brokerage.facts_of_policies(p_setup, p_tasks, v_facts.keys, p_queues, p_base_profile) f);
  v_facts.software := array(
    select f from brokerage.facts_of_software(p_setup, p_tasks, v_facts.keys, p_queues, p_base_profile, v_analysis) f);
  v_facts.placement := array(
    select f from brokerage.facts_of_placement(p_setup, p_tasks, p_queues, p_base_profile, v_analysis) f);
  if v_analysis then
    v_facts.load := array(
      select f from brokerage.load_of_analysis(p_setup, p_tasks, v_facts.keys, p_queues, p_base_profile,
                                               v_facts.load) f);
    v_locality := array(select f from brokerage.facts_of_locality(p_setup, p_tasks, p_queues, p_base_profile) f);
    v_facts.inputs := array(select f from brokerage.facts_of_inputs(p_setup, p_tasks, p_queues, v_locality) f);
    v_facts.placement := array(
      select f from brokerage.placement_of_analysis(p_setup, p_tasks, p_queues, p_base_profile, v_facts.placement,
                                                    v_locality) f);
  end if;
  return v_facts;
end $$;

comment on function brokerage.facts_by_subject(
  text, text, brokerage.task_facts[], brokerage.queue_facts[], text) is
  'The facts about tasks and candidates of an algorithm by subject, with the keys by which tasks share them.';
