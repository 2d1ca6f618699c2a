-- See task-brokerage.md, transfer-backlog.
create or replace function brokerage.rule_transfer_backlog(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when not p.is_preassigned and coalesce(t.t1_weight, 0) >= 0 and q.queued_into > t.nqueued_nuc_cap
    then case when q.queued_into = 'infinity' then 'its backlog is marked as unlimited'
              else format('%s files are queued into it, NQUEUED_NUC_CAP is %s', q.queued_into, t.nqueued_nuc_cap) end
  end
$$;

comment on function brokerage.rule_transfer_backlog(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'transfer-backlog: at most NQUEUED_NUC_CAP files are queued into the nucleus, unless t1Weight is negative.';
