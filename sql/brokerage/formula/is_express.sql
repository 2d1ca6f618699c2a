-- conventions.md, Kinds of task: documented looks for urgent anywhere in the processing type; in panda2026 the
-- processing type must be exactly that word, or the priority over 1000.
create or replace function brokerage.is_express(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns boolean
language sql stable parallel safe as $$
  select case
    when (x ->> 'urgent_alone')::boolean
    then coalesce(t.processing_type = 'urgent', false) or coalesce(t.current_priority > 1000, false)
    else coalesce(t.processing_type like '%urgent%', false) or coalesce(t.current_priority >= 1000, false)
  end
$$;

comment on function brokerage.is_express(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Whether a task is express: urgent, or of priority 1000 or more. Parameter urgent_alone (boolean): as in PanDA''s '
  'code.';
