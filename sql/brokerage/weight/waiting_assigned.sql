-- See production-weights.md, weight-basic. Assigned jobs wait for data; they do not count if all of the input is local.
create or replace function brokerage.waiting_assigned(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns bigint
language sql stable parallel safe as $$
  select case when p.input_is_local is true then 0 else coalesce(p.assigned, 0) end
$$;

comment on function brokerage.waiting_assigned(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Assigned jobs of the share at the queue, if they count for the task.';
