-- See analysis-candidates.md, avoid-vp.
create or replace function brokerage.rule_avoid_vp(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.has_vp_input is not true then null
    when t.avoid_vp then 'the task avoids queues of virtual placement'
    when brokerage.is_overloaded(t, q, p)
    then format('a queue of virtual placement, overloaded: %s queued and %s running jobs, of the share %s and %s',
                brokerage.queued_of_share(t, q, p), p.running, t.share_queued, t.share_running)
  end
$$;

comment on function brokerage.rule_avoid_vp(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'avoid-vp: a queue of virtual placement is rejected if the task avoids such queues, or if the queue is overloaded.';
