-- production-load.md, cap-rt: jobs of the resource types of the task's jobs at the queue.
create or replace function brokerage.type_waiting(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns bigint
language sql stable parallel safe as $$
  select p.type_defined + p.type_activated + p.type_starting
         + case when p.input_is_local is true then 0 else p.type_assigned end
$$;

comment on function brokerage.type_waiting(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Jobs of the share and the task''s resource types that wait at the queue; null if there are no statistics of these '
  'types.';
