-- See production-load.md, cap. The rule checks both inequalities of the documentation; if R = 0, only an empty queue
-- passes.
create or replace function brokerage.rule_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns text
language sql stable parallel safe as $$
  select case
    when coalesce(p.activated, 0) + coalesce(p.starting, 0) > 2 * brokerage.running_workers(t, q, p)
    then format('activated + starting = %s, more than twice the running %s',
                coalesce(p.activated, 0) + coalesce(p.starting, 0), brokerage.running_workers(t, q, p))
    when coalesce(p.defined, 0) + coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p)
         + coalesce(p.starting, 0) > 2 * brokerage.running_workers(t, q, p)
    then format('defined + activated + assigned + starting = %s, more than twice the running %s',
                coalesce(p.defined, 0) + coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p)
                + coalesce(p.starting, 0),
                brokerage.running_workers(t, q, p))
  end
$$;

comment on function brokerage.rule_cap(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'cap: at most twice as many jobs of the share wait at the queue as are running.';
