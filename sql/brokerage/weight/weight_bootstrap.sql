-- See production-weights.md, bootstrap. A queue qualifies if nothing runs or waits there. Queues of weight 0 come first
-- in the list if the choice has zero_first.
create or replace function brokerage.weight_bootstrap(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case
    when brokerage.running_workers_panda2026(t, q, p) = 0
         and coalesce(p.activated, 0) + coalesce(p.assigned, 0) + coalesce(p.starting, 0) + coalesce(p.defined, 0)
             + coalesce(q.live_jobs, 0) = 0
         and t.current_priority <= t.max_prio_to_bootstrap and t.is_merging is not true
         and not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
    then 0 else 1
  end
$$;

comment on function brokerage.weight_bootstrap(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'bootstrap: 0 for an empty queue at which a task of low priority may start, else 1.';
