-- conventions.md, Exemptions: this is sitePreAssigned of PanDA's code, a single queue in the task's own site, which
-- names nothing else; a merge pre-assignment does not count.
create or replace function brokerage.is_only_site(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns boolean
language sql stable parallel safe as $$
  select p.preassigned_alone is true and t.preassigned_by is distinct from 'preassigned-merge'
$$;

comment on function brokerage.is_only_site(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Whether the task names this queue as its only site; panda2026 exempts such queues from some rules.';
