-- See analysis-weights.md, The new basic weight. The weight combines the terms of all candidates (see
-- brokerage.compose). The first seven terms are summed: free places of the user by class of the queue, queues by class,
-- and free places of all.
create or replace function brokerage.weight_free_places(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns float8[]
language sql stable parallel safe as $$
  select array[
    case when q.site_class = 1 then brokerage.user_free_places(t, q, p) else 0 end,
    case when coalesce(q.site_class, 0) = 0 then brokerage.user_free_places(t, q, p) else 0 end,
    case when q.site_class = -1 then brokerage.user_free_places(t, q, p) else 0 end,
    case when q.site_class = 1 then 1 else 0 end,
    case when coalesce(q.site_class, 0) = 0 then 1 else 0 end,
    case when q.site_class = -1 then 1 else 0 end,
    brokerage.user_free_places(t, q, p),
    coalesce(q.site_class, 0),
    coalesce(case when t.is_merging then t.jobs else t.unassigned_jobs end, 0),
    case when coalesce(t.gshare in ('User Analysis', 'Express Analysis'), false) then coalesce(t.task_class, 1) end,
    case when t.is_merging then 1 else 0 end]::float8[]
$$;

comment on function brokerage.weight_free_places(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Terms of the new basic weight: free places of the user by class of the queue (hi, mid, lo), queues by class, free '
  'places, class, jobs to be made, the task''s class (null = classes do not count), and whether it is merging.';
