-- analysis-load.md, stabilizer: queues with few waiting jobs are not limited. PanDA's code also spares merging, users
-- without jobs there, and the site that the task names.
create or replace function brokerage.may_be_stabilized(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns boolean
language sql stable parallel safe as $$
  select coalesce(
    brokerage.queued_of_share(t, q, p) >= t.base_queue_length_per_pq
    and brokerage.compare(brokerage.queued_of_share(t, q, p)::float8,
                          t.base_expected_wait_hour_on_pq * p.to_running_rate,
                          brokerage.queued_of_share(t, q, p)::numeric,
                          t.base_expected_wait_hour_on_pq::numeric * p.to_running_rate::numeric) >= 0
    and not coalesce((x ->> 'spares_merging')::boolean and t.is_merging, false)
    and not coalesce((x ->> 'spares_absent')::boolean and p.user_queued is null, false)
    and not coalesce((x ->> 'spares_preassigned')::boolean and p.is_preassigned, false), false)
$$;

comment on function brokerage.may_be_stabilized(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'Whether the jobs of a user at the queue may be limited. Parameters spares_merging, spares_absent, '
  'spares_preassigned (boolean).';
