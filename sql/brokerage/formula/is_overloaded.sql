-- analysis-load.md, overloaded: queued jobs per running job are compared with the same ratio of all queues. The
-- inequality is cross-multiplied (conventions.md, Exact arithmetic).
create or replace function brokerage.is_overloaded(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns boolean
language sql stable parallel safe as $$
  select coalesce(
    brokerage.queued_of_share(t, q, p) > t.overload_min_queue
    and (coalesce(p.running, 0) = 0
         or brokerage.queued_of_share(t, q, p)::numeric * t.share_running
              > t.share_queued * t.overload_ratio_offset::numeric * p.running), false)
$$;

comment on function brokerage.is_overloaded(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Whether a queue has many jobs of the share waiting, compared with the jobs that run there and with the other '
  'queues.';
