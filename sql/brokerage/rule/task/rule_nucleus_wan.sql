-- See task-brokerage.md, nucleus-wan.
create or replace function brokerage.rule_nucleus_wan(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when not p.is_preassigned then p.wan_problem end
$$;

comment on function brokerage.rule_nucleus_wan(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'nucleus-wan: the output storages of the task at the nucleus can be read and written over WAN.';
