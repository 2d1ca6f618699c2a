-- See distribution.md, used-sites-first.
create or replace function brokerage.value_used(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts)
returns float8
language sql stable parallel safe as $$
  select case when q.queue = any (t.sites_used) or q.unified_name = any (t.sites_used) then 1 else 0 end
$$;

comment on function brokerage.value_used(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'used-sites-first: 1 for a queue to which jobs of the task have gone, else 0.';
