create or replace function brokerage.answers_of_arm(
  p_rules brokerage.profile_rule[], p_algorithm text, p_subjects brokerage.facts_by_subject,
  p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean
) returns setof brokerage.task_answer
language plpgsql stable as $$
begin
  return query execute brokerage.compose_answers(p_rules, p_algorithm, p_wide) using p_subjects, p_tasks, p_queues;
end $$;

comment on function brokerage.answers_of_arm(
  brokerage.profile_rule[], text, brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[],
  boolean) is
  'Answers by one profile about tasks that do not see each other''s jobs; without status for a task that is decided '
  'once more. Errors: PB001, PB002 (a rule that does not fit).';
