-- brokerage-rules 1.4c: a set rule, so that a hospital is kept where nothing else is left.
create or replace function brokerage.rule_hospital(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe
as $$
  select case when q.unified_name like '%\_HOSPITAL' then 'a hospital queue, others are left' end
$$;

comment on function brokerage.rule_hospital(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'hospital: hospital queues only where no other queue is left.';
