-- See facts-and-formulas.md, n-running-workers. The result is the largest of several numbers. Workers count if fewer
-- than 20 jobs run and there are more workers than jobs; in a maximum with the running jobs, min(20, workers) is the
-- same.
create or replace function brokerage.running_workers(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns bigint
language sql stable parallel safe as $$
  select greatest(
    coalesce(p.running, 0),
    case when q.workers is not null then least(q.workers, 20) end,
    case when p.numslots > 0 then p.numslots / brokerage.slot_cores(t, q, p) when p.numslots = 0 then p.starting end)
$$;

comment on function brokerage.running_workers(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'The number R: running jobs of the share at the queue, or a number of workers or slots in its place if few jobs run '
  'or slots are defined.';
