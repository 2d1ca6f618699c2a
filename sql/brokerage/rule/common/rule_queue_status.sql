-- See production-candidates.md, queue-status. In panda2026 the status standby passes.
create or replace function brokerage.rule_queue_status(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when q.status = 'online' or p.is_preassigned or q.status = 'standby' and (x ->> 'standby')::boolean then null
    else format('status is %s, not online', coalesce(q.status, 'not set'))
  end
$$;

comment on function brokerage.rule_queue_status(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'queue-status: the queue must be online, unless the task is pre-assigned to it. Parameter standby (boolean): the '
  'status standby passes as well.';
