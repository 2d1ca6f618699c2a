-- network.md, link-queue-cap: queued files are those of activity Express for express tasks, else of Production Output.
create or replace function brokerage.queued_on_link(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns float8
language sql stable parallel safe as $$
  select coalesce(case when brokerage.is_express(t, q, p, x) then p.queued_express else p.queued end, 0)
$$;

comment on function brokerage.queued_on_link(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Files queued on the link from the queue to the task''s nucleus, of the activity that the task''s outputs have. '
  'Parameters: brokerage.is_express.';
