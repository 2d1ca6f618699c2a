-- See production-candidates.md, prod-initial-all. Candidates are queues that run production and belong to a cloud,
-- whatever their name.
create or replace function brokerage.candidate_all_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.preassigned is not null then null
    when q.is_production is not true then format('type is %s: it runs no production', coalesce(q.type, 'not set'))
    when coalesce(q.cloud, '') = '' then 'it has no cloud'
  end
$$;

comment on function brokerage.candidate_all_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'prod-initial-all of panda2026: without pre-assignment all queues that run production and have a cloud are '
  'candidates.';
