-- See analysis-load.md, overloaded. This is a set rule, but it always removes virtual placements.
create or replace function brokerage.rule_overloaded(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.is_overloaded(t, q, p) and t.is_merging is not true
    then format('%s: %s queued and %s running jobs, of the share %s and %s',
                case when q.has_vp_input then '!-overloaded_vp' else '-overloaded' end,
                brokerage.queued_of_share(t, q, p), p.running, t.share_queued, t.share_running)
  end
$$;

comment on function brokerage.rule_overloaded(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'overloaded: overloaded queues are candidates only if no other queue is left; those of virtual placement are always '
  'rejected.';
