-- See analysis-weights.md, The new basic weight: rem.
create or replace function brokerage.user_free_places(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select greatest(brokerage.user_queue_limit(t, q, p) - coalesce(p.user_queued, 0), 0)::float8
$$;

comment on function brokerage.user_free_places(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Free places of the user of the task at the queue: jobs that the user may still queue there.';
