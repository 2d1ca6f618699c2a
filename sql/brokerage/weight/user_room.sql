-- brokerage-rules 1.5, rem.
create or replace function brokerage.user_room(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns float8
language sql stable parallel safe
as $$
  select greatest(brokerage.user_queue_limit(t, q, p) - coalesce(p.user_queued, 0), 0)::float8
$$;

comment on function brokerage.user_room(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Jobs that the user of the task may still queue there.';
