-- See analysis-weights.md, The new basic weight, where this number is called rem.
create or replace function brokerage.user_free_places(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select greatest(brokerage.user_queue_limit(t, q, p) - coalesce(p.user_queued, 0), 0)::float8
$$;

comment on function brokerage.user_free_places(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Free places of the task''s user at the queue: the number of jobs that the user may still queue there.';
