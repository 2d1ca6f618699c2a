-- See task-brokerage.md, task-nucleus-list.
create or replace function brokerage.rule_nucleus_status(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case when not p.is_preassigned and q.status is distinct from 'ACTIVE'
              then format('state is %s, not ACTIVE', coalesce(q.status, 'not set')) end
$$;

comment on function brokerage.rule_nucleus_status(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'task-nucleus-list: the state of the nucleus is ACTIVE.';
