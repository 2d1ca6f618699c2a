-- See production-weights.md, t1-weight-primary. A task that stays at the nucleus uses only the queue with the most
-- running jobs, among the queues that no other rule rejects (a full or locked queue does not block the others).
create or replace function brokerage.value_running(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case when t.t1_weight < 0 and t.is_merging is not true then coalesce(q.running_all, 0)::float8 end
$$;

comment on function brokerage.value_running(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Running jobs of all shares, for tasks with negative t1Weight; null = the choice does not concern the task.';
