create or replace function brokerage.turns_of_arm(
  p_arm brokerage.arm, p_algorithm text, p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[],
  p_queues brokerage.queue_facts[], p_wide boolean
) returns refcursor
language plpgsql volatile as $$
declare
  v_subjects brokerage.facts_by_subject := brokerage.facts_of_some(p_subjects, p_arm.numbers, cardinality(p_queues));
  v_tasks brokerage.task_facts[] := brokerage.tasks_at(p_tasks, p_arm.numbers);
  v_compiled regproc := case when not p_wide
                             then to_regproc(brokerage.compiled_query('turns', p_algorithm, p_arm.rules[1].profile))
                             end;
  v_turns refcursor;
begin
  if v_compiled is not null then
    execute format('select %s($1, $2, $3, $4)', v_compiled) into v_turns
      using v_subjects, v_tasks, p_queues, brokerage.query_key(p_arm.rules, p_algorithm);
  end if;
  if v_turns is null then
    open v_turns no scroll for execute brokerage.compose_turns(p_arm.rules, p_algorithm, p_wide)
      using v_subjects, v_tasks, p_queues;
  end if;
  return v_turns;
end $$;

comment on function brokerage.turns_of_arm(
  brokerage.arm, text, brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[], boolean) is
  'A cursor over the turns of the tasks of an arm (brokerage.turn), by their places in the arm. Errors: PB001, PB002 '
  '(a rule that does not fit).';
