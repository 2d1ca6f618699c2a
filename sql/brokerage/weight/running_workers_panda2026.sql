-- See facts-and-formulas.md, n-running-workers, and facts-and-formulas.md, num-slots. Workers count only at pull queues
-- with pilots, and neither workers nor slots count for tasks of higher priority. If there are 0 slots, running and
-- starting jobs count.
create or replace function brokerage.running_workers_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns bigint
language sql stable parallel safe as $$
  select case
    when t.current_priority > t.max_prio_to_bootstrap then coalesce(p.running, 0)
    when p.numslots = 0 then coalesce(p.running, 0) + coalesce(p.starting, 0)
    else greatest(
      coalesce(p.running, 0),
      case when q.pilots > 0 and q.ups and q.workers is not null then least(q.workers, 20) end,
      case when p.numslots > 0 then p.numslots / brokerage.slot_cores(t, q, p) end)
  end
$$;

comment on function brokerage.running_workers_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'The number R as PanDA''s code counts it: running jobs of the share at the queue, or workers or slots if the '
  'priority of the task allows a bootstrap.';
