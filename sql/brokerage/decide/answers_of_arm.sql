create or replace function brokerage.answers_of_arm(
  p_arm brokerage.arm, p_algorithm text, p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[],
  p_queues brokerage.queue_facts[], p_wide boolean
) returns setof brokerage.task_answer
language plpgsql stable as $$
begin
  return query execute brokerage.compose_answers(p_arm.rules, p_algorithm, p_wide)
    using brokerage.facts_of_some(p_subjects, p_arm.numbers, cardinality(p_queues)),
          brokerage.tasks_at(p_tasks, p_arm.numbers), p_queues;
end $$;

comment on function brokerage.answers_of_arm(
  brokerage.arm, text, brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[], boolean) is
  'Answers about the tasks of an arm, which do not see each other''s jobs, by their places in the arm; a task that is '
  'decided once more has no status. Errors: PB001, PB002 (a rule that does not fit).';
