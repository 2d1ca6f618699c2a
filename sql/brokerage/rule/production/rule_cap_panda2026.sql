-- See production-load.md, cap. The limit is at least NQUEUELIMITSITE; express tasks and pseudo-queues are exempt.
create or replace function brokerage.rule_cap_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.child_type is null and not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
         and brokerage.waiting_panda2026(t, q, p)
               > greatest(t.nqueuelimitsite, 2 * brokerage.running_workers_panda2026(t, q, p))
    then format('%s jobs are waiting, more than %s and than twice the running %s', brokerage.waiting_panda2026(t, q, p),
                t.nqueuelimitsite, brokerage.running_workers_panda2026(t, q, p))
  end
$$;

comment on function brokerage.rule_cap_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'cap of panda2026: the number of waiting jobs of the share at the queue is not over the larger of NQUEUELIMITSITE '
  'and twice the number of running jobs.';
