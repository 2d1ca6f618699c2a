-- conventions.md, Kinds of task.
create or replace function brokerage.is_high(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns boolean
language sql stable parallel safe as $$
  select coalesce(t.current_priority >= 800, false) or coalesce(t.is_scout, false)
$$;

comment on function brokerage.is_high(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Whether a task is high: current priority of 800 or more, or scouts.';
