-- See production-filters.md, wn-connectivity. The rule applies if the task gives a connectivity or a stack. The stacks
-- must then be equal; two unset stacks are equal.
create or replace function brokerage.rule_wn_connectivity(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.ip_connectivity is null and t.ip_stack is null then null
    when t.ip_connectivity = 'full' and q.connectivity is distinct from 'full'
         or t.ip_connectivity = 'http' and coalesce(q.connectivity, 'none') not in ('full', 'http')
    then format('needs network %s, the queue has %s', t.ip_connectivity, coalesce(q.connectivity, 'none'))
    when t.ip_stack is distinct from q.ip_stack
    then format('%s, the queue has %s', coalesce('needs stack ' || t.ip_stack, 'the task names no IP stack'),
                coalesce(q.ip_stack, 'unset'))
  end
$$;

comment on function brokerage.rule_wn_connectivity(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'wn-connectivity: worker nodes have the network access that the task needs, with the same IP stack.';
