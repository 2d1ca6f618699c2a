-- See analysis-load.md, stabilizer.
create or replace function brokerage.rule_stabilizer(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.may_be_stabilized(t, q, p, x) and coalesce(p.user_queued, 0) > brokerage.user_queue_limit(t, q, p)
    then format('the user has %s jobs queued, the limit is %s of %s for %s users', p.user_queued,
                trim_scale(round(brokerage.user_queue_limit(t, q, p), 3)),
                trim_scale(round(brokerage.queue_length_limit(t, q, p), 3)), p.users)
  end
$$;

comment on function brokerage.rule_stabilizer(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'stabilizer: the user does not have too many queued jobs at the queue. Parameters: spares_merging, spares_absent, '
  'spares_preassigned (boolean).';
