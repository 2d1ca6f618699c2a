-- The answers of brokerage.judge, arm by arm, if no weight sees the assignments of the batch.
create or replace function brokerage.answers_together(
  p_run brokerage.run, p_arms brokerage.arm[], p_subjects brokerage.facts_by_subject,
  p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean
) returns setof brokerage.task_answer
language plpgsql stable as $$
declare
  v_arm brokerage.arm;
  v_answer brokerage.task_answer;
begin
  foreach v_arm in array p_arms loop
    for v_answer in
      select a.* from brokerage.answers_of_arm(v_arm, p_run.algorithm, p_subjects, p_tasks, p_queues, p_wide) a
    loop
      v_answer.number := v_arm.numbers[v_answer.number];
      return next v_answer;
    end loop;
  end loop;
end $$;

comment on function brokerage.answers_together(
  brokerage.run, brokerage.arm[], brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[],
  boolean) is
  'Answers about tasks that do not see each other''s jobs; a task that is decided once more has no status. Errors: '
  'PB001, PB002 (a rule that does not fit).';
