-- See task-brokerage.md, nucleus-has-storage.
create or replace function brokerage.rule_nucleus_has_storage(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when not p.is_preassigned and not q.has_output_storage then 'it has no output storage' end
$$;

comment on function brokerage.rule_nucleus_has_storage(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'nucleus-has-storage: some queue of the nucleus has an output storage.';
