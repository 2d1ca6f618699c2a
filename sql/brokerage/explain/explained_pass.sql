-- anal-loops without stored decisions: a task as the pass that decides about it sees it, found by the query that
-- decides.
create or replace function brokerage.explained_pass(
  p_setup text, p_profile text, p_algorithm text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns brokerage.task_facts[]
language plpgsql stable as $$
declare
  v_condition text := brokerage.compose_second_pass(p_profile, p_algorithm, 'j.task_number');
  v_again boolean;
begin
  if v_condition = 'false' then
    return p_tasks;
  end if;
  execute brokerage.compose(p_profile, p_algorithm, false)
          || format(' select %s from judged j group by j.task_number', v_condition)
     into v_again
    using brokerage.facts_by_subject(p_setup, p_algorithm, p_tasks, p_queues, brokerage.base_profile(p_profile)),
          p_tasks, p_queues;
  return case when v_again then array(select brokerage.in_second_pass(f) from unnest(p_tasks) f) else p_tasks end;
end $$;

comment on function brokerage.explained_pass(text, text, text, brokerage.task_facts[], brokerage.queue_facts[]) is
  'Facts of a task, in the second pass if the rule of kind second pass has it decided once more (one task). Errors: '
  'PB001, PB002 (a rule that does not fit).';
