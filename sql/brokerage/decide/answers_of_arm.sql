create or replace function brokerage.answers_of_arm(
  p_arm brokerage.arm, p_algorithm text, p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[],
  p_queues brokerage.queue_facts[], p_wide boolean
) returns setof brokerage.task_answer
language plpgsql stable as $$
declare
  v_subjects brokerage.facts_by_subject := brokerage.facts_of_some(p_subjects, p_arm.numbers, cardinality(p_queues));
  v_tasks brokerage.task_facts[] := brokerage.tasks_at(p_tasks, p_arm.numbers);
  v_compiled regproc := case when not p_wide
                             then to_regproc(brokerage.compiled_query('answers', p_algorithm, p_arm.rules[1].profile))
                             end;
begin
  if v_compiled is not null then
    return query execute format('select a.* from %s($1, $2, $3, $4) a', v_compiled)
      using v_subjects, v_tasks, p_queues, brokerage.query_key(p_arm.rules, p_algorithm);
    if found then
      return;
    end if;
  end if;
  return query execute brokerage.compose_answers(p_arm.rules, p_algorithm, p_wide) using v_subjects, v_tasks, p_queues;
end $$;

comment on function brokerage.answers_of_arm(
  brokerage.arm, text, brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[], boolean) is
  'Answers about the tasks of an arm, which do not see each other''s jobs, by their places in the arm; a task that is '
  'decided once more has no status. Errors: PB001, PB002 (a rule that does not fit).';
