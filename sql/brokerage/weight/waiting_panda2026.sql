-- See production-load.md, cap. Defined jobs do not count, and assigned jobs count only if data must move.
create or replace function brokerage.waiting_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns bigint
language sql stable parallel safe as $$
  select coalesce(p.activated, 0) + coalesce(p.starting, 0) + brokerage.waiting_assigned(t, q, p)
$$;

comment on function brokerage.waiting_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Waiting jobs of the share at the queue, as PanDA''s cap counts them.';
