-- See analysis-candidates.md, hospital. As a set rule, it keeps a hospital queue if no other queue is left.
create or replace function brokerage.rule_hospital(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when q.unified_name like E'%\\_HOSPITAL' then 'a hospital queue, others are left' end
$$;

comment on function brokerage.rule_hospital(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'hospital: hospital queues are candidates only if no other queue is left.';
