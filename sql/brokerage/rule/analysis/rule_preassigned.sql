-- See analysis-candidates.md, preassigned.
create or replace function brokerage.rule_preassigned(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when t.preassigned is not null and p.is_preassigned is not true
              then 'the task''s site is ' || array_to_string(t.preassigned, ', ') end
$$;

comment on function brokerage.rule_preassigned(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'preassigned: a task that names a site runs at that site.';
