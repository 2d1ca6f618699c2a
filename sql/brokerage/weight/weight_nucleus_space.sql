-- See task-weights.md, task-weight-space. The weight is (free + expired) / total, or 1 if the total is not known.
create or replace function brokerage.weight_nucleus_space(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case when p.is_preassigned then null when p.space_total > 0 then p.weighed_space / p.space_total else 1 end
$$;

comment on function brokerage.weight_nucleus_space(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'task-weight-space: the fraction of the nucleus''s space that is free.';
