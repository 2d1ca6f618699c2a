-- See production-load.md, no-pilot. The rule is waived for test labels, jumbo jobs at their queues, slots for the task
-- (facts-and-formulas.md, num-slots) and pre-assignment.
create or replace function brokerage.rule_no_pilot_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when coalesce(q.pilots, 0) = 0 and p.is_preassigned is not true and coalesce(t.label, '') not like '%test%'
         and not (coalesce(t.n_jumbo_jobs, 0) > 0 and q.uses_jumbo is true) and p.numslots is null
    then 'no pilot in the last 3 h'
  end
$$;

comment on function brokerage.rule_no_pilot_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'no-pilot of panda2026: pilots asked for jobs at the queue in the last 3 h, or the task is exempt.';
