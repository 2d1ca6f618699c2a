-- This applies anal-loops without stored decisions: the query that decides finds the pass that decides about the task.
create or replace function brokerage.explained_pass(
  p_rules brokerage.profile_rule[], p_algorithm text, p_subjects brokerage.facts_by_subject,
  p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns brokerage.task_facts[]
language plpgsql stable as $$
declare
  v_condition text := brokerage.compose_second_pass(p_rules, p_algorithm, 'j.task_number');
  v_again boolean;
begin
  if v_condition = 'false' then
    return p_tasks;
  end if;
  execute brokerage.compose(p_rules, p_algorithm, false)
          || format(' select %s from judged j group by j.task_number', v_condition)
     into v_again
    using p_subjects, p_tasks, p_queues;
  return case when v_again then array(select brokerage.in_second_pass(f) from unnest(p_tasks) f) else p_tasks end;
end $$;

comment on function brokerage.explained_pass(
  brokerage.profile_rule[], text, brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'Facts of one task, in the second pass if the rule of kind second pass has the task decided once more. Errors: '
  'PB001, PB002 (a rule that does not fit).';
