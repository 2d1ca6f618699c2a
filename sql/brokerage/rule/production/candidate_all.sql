-- See production-candidates.md, prod-initial-all. Queues with test in the name, in upper or lower case, are left out.
create or replace function brokerage.candidate_all(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.preassigned is not null then null
    when q.type is null or q.type not in ('production', 'unified')
    then format('type is %s, not production or unified', coalesce(q.type, 'not set'))
    when q.queue ilike '%test%' then 'its name contains test'
  end
$$;

comment on function brokerage.candidate_all(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'prod-initial-all: without pre-assignment all queues of production or unified type are candidates, except those with '
  'test in their name.';
