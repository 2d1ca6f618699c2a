-- The explanation without a second pass (anal-loops): brokerage.obstacles needs it for tasks that have one.
create or replace function brokerage.explained_first_pass(
  p_setup text, p_task_id bigint, p_profile text, p_algorithm text
) returns table (queue text, verdict text, rank bigint, rule text, criteria text, reason text, weight float8,
                 factors jsonb, all_reasons text[])
language plpgsql stable
set jit = off set enable_mergejoin = off set enable_memoize = off set cursor_tuple_fraction = 1 set work_mem = '64MB'
as $$
declare
  v_profile text := brokerage.profile_in_force(p_setup, p_profile);
  v_tasks brokerage.task_facts[] :=
    array(select f
            from brokerage.facts_of_tasks(p_setup, array[p_task_id], brokerage.base_profile(v_profile), p_algorithm) f);
begin
  return query
  select e.*
    from brokerage.explained_queues(p_setup, v_profile, p_algorithm,
                                    brokerage.with_job_check(p_setup, v_profile, p_algorithm, v_tasks),
                                    brokerage.facts_of_candidates(p_setup, p_algorithm)) e;
end $$;

comment on function brokerage.explained_first_pass(text, bigint, text, text) is
  'Rows of brokerage.explain about queues in the first pass, whatever is left. Errors: PB001, PB002 (a rule that does '
  'not fit).';
