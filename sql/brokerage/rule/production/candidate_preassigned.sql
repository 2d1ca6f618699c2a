-- See production-candidates.md, prod-initial-preassigned, and production-candidates.md, preassigned-merge. The
-- parameter by names the rule.
create or replace function brokerage.candidate_preassigned(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when t.preassigned is not null and p.is_preassigned is not true and coalesce(t.preassigned_by = x ->> 'by', true)
    then 'not among the pre-assigned queues'
  end
$$;

comment on function brokerage.candidate_preassigned(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'prod-initial-preassigned, preassigned-merge: exactly the listed queues are candidates of a pre-assigned task. '
  'Parameter by: the rule that must have pre-assigned the task; if it is missing, either rule.';
