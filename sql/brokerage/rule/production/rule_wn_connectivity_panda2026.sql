-- See production-filters.md, wn-connectivity. A stack that only the queue gives rejects no task.
create or replace function brokerage.rule_wn_connectivity_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.is_only_site(t, q, p) then null
    when t.ip_connectivity in ('full', 'http') and q.connectivity is distinct from 'full'
         and not (t.ip_connectivity = 'http' and q.connectivity is not distinct from 'http')
    then format('needs network %s, the queue has %s', t.ip_connectivity, coalesce(q.connectivity, 'none'))
    when t.ip_stack is not null and t.ip_stack is distinct from q.ip_stack
    then format('needs stack %s, the queue has %s', t.ip_stack, coalesce(q.ip_stack, 'unset'))
  end
$$;

comment on function brokerage.rule_wn_connectivity_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'wn-connectivity of panda2026: worker nodes have the network access that the task needs, with the IP stack that the '
  'task names.';
