create or replace function brokerage.refusals(
  p_rules brokerage.profile_rule[], p_algorithm text, p_tasks brokerage.task_facts[]
) returns setof brokerage.task_answer
language plpgsql stable as $$
begin
  return query execute format(
    'select t.ordinality, t.task_id, s.status, s.rule, s.reason, null::timestamptz, 0, 0, 0, null::int[], '
    'null::text[], null::brokerage.queue_verdict[], null::bigint[], null::text, null::float8 '
    'from (%s) s(task_id, status, rule, reason) join unnest($1) with ordinality t on t.task_id = s.task_id',
    brokerage.compose_task_rules(p_rules, p_algorithm)) using p_tasks;
end $$;

comment on function brokerage.refusals(brokerage.profile_rule[], text, brokerage.task_facts[]) is
  'Answers about the tasks that a task rule refuses. Errors: PB001, PB002 (a rule that does not fit).';
