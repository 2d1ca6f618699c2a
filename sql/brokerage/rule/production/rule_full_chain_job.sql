-- See full-chain.md, full-chain-job.
create or replace function brokerage.rule_full_chain_job(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.full_chain is not null and t.nucleus_mode is not null then
      case when p.is_nucleus_queue is not true
           then format('-full_chain: the task stays at %s, a bare nucleus', coalesce(t.nucleus, 'the nucleus')) end
    when q.bare_nucleus = 'only' then '-not_full_chain: the queue only takes full chains'
  end
$$;

comment on function brokerage.rule_full_chain_job(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'full-chain-job: a full-chain task at a bare nucleus stays there; queues with bareNucleus=only take no other task.';
