-- brokerage.failing_rule calls this function to find the values that cause an error.
create or replace function brokerage.error_of(
  p_query text, p_subjects brokerage.facts_by_subject, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns text
language plpgsql stable as $$
begin
  execute p_query using p_subjects, p_tasks, p_queues;
  return null;
exception when data_exception or cardinality_violation or raise_exception then
  return sqlerrm;
end $$;

comment on function brokerage.error_of(
  text, brokerage.facts_by_subject, brokerage.task_facts[], brokerage.queue_facts[]) is
  'The text of the error that a query of rules raises because of the values of a task or a queue; null if it raises '
  'none. Its parameters are those of brokerage.compose.';
