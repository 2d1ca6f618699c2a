-- brokerage.obstacles needs this explanation for tasks that are decided once more (anal-loops).
create or replace function brokerage.explained_first_pass(
  p_setup text, p_task_id bigint, p_profile text, p_algorithm text
) returns table (queue text, verdict text, rank bigint, rule text, criteria text, reason text, weight float8,
                 factors jsonb, all_reasons text[])
language plpgsql stable
set jit = off set enable_mergejoin = off set enable_memoize = off set cursor_tuple_fraction = 1 set work_mem = '64MB'
as $$
declare
  v_rules brokerage.profile_rule[] := brokerage.rules_of(brokerage.profile_of_task(p_setup, p_task_id, p_profile),
                                                         p_algorithm);
  v_base_profile text := brokerage.base_profile(v_rules[1].profile);
  v_queues brokerage.queue_facts[] := brokerage.facts_of_candidates(p_setup, p_algorithm);
  v_tasks brokerage.task_facts[];
begin
  v_tasks := brokerage.facts_by_priority(p_setup, array[p_task_id], v_base_profile, p_algorithm);
  v_tasks := brokerage.with_job_check(p_setup, v_rules, p_algorithm, v_base_profile, v_tasks);
  return query
  select e.*
    from brokerage.explained_queues(
           v_rules, p_algorithm,
           brokerage.facts_by_subject(p_setup, p_algorithm, v_tasks, v_queues, v_base_profile), v_tasks, v_queues) e;
end $$;

comment on function brokerage.explained_first_pass(text, bigint, text, text) is
  'Rows of brokerage.explain about queues in the first pass, even if no queue remains. Errors: PB001, PB002 (a rule '
  'that does not fit).';
