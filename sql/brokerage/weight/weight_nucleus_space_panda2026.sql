-- See task-weights.md, task-weight-space. The output of the remaining work is subtracted from the free space; the
-- result is multiplied by whole TB, at most FREE_DISK_CUTOFF.
create or replace function brokerage.weight_nucleus_space_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns float8
language sql stable parallel safe as $$
  select case
    when p.is_preassigned then null
    when p.space_total > 0
    then greatest(p.weighed_space - trunc(brokerage.space_for(q.remaining_work)), 0) / p.space_total
         * least(t.free_disk_cutoff,
                 greatest(trunc((p.weighed_space - trunc(brokerage.space_for(q.remaining_work))) / 1024), 0))
    else 1
  end
$$;

comment on function brokerage.weight_nucleus_space_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'task-weight-space of panda2026: the fraction of the nucleus''s space that remains free, times the remaining TB, at '
  'most FREE_DISK_CUTOFF.';
