-- The candidates of an algorithm are nuclei for tasks and queues for jobs.
create or replace function brokerage.facts_of_candidates(p_setup text, p_algorithm text) returns brokerage.queue_facts[]
language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
begin
  -- among thousands of small setups, the plan that a session keeps expects few queues
  if exists (select from resource.queue q where q.setup = p_setup offset 1000) then
    perform set_config('enable_seqscan', 'on', true), set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return case when p_algorithm = 'production_task'
              then array(select f from brokerage.facts_of_nuclei(p_setup) f order by f.queue)
              else array(select f
                           from brokerage.facts_of_queues(p_setup, p_algorithm = 'analysis_job') f
                          order by f.queue) end;
end $$;

comment on function brokerage.facts_of_candidates(text, text) is
  'The candidates of an algorithm as rules see them, by name: nuclei (production_task) or queues.';
