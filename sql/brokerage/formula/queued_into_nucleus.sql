-- network.md, nucleus-queue-cap: all links into the nucleus count, for the activity of brokerage.queued_on_link.
create or replace function brokerage.queued_into_nucleus(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns float8
language sql stable parallel safe as $$
  select coalesce(
    case when brokerage.is_express(t, q, p, x) then t.nucleus_queued_express else t.nucleus_queued end, 0)::float8
$$;

comment on function brokerage.queued_into_nucleus(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Files queued on all links into the task''s nucleus, of the activity that its outputs have. Parameters: '
  'brokerage.is_express.';
