create or replace function brokerage.is_named(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_patterns text[]
) returns boolean
language sql stable parallel safe as $$
  select coalesce(q.queue like any (p_patterns) or q.unified_name like any (p_patterns), false)
$$;

comment on function brokerage.is_named(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, text[]) is
  'Whether patterns (like) name a queue, by its own name or that of the unified queue; null if they name none.';
