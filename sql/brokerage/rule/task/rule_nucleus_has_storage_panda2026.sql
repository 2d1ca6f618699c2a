-- See task-brokerage.md, nucleus-has-storage. Each output token must fit a storage. A task whose outputs are all
-- distributed (ddd:) needs no storage.
create or replace function brokerage.rule_nucleus_has_storage_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when not p.is_preassigned then p.output_problem end
$$;

comment on function brokerage.rule_nucleus_has_storage_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'nucleus-has-storage of panda2026: the nucleus has a storage for each output dataset of the task.';
