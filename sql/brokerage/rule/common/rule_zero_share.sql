-- See zero-share.md, zero-share. The sub-policy that refuses the task is a fact.
create or replace function brokerage.rule_zero_share(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case when p.zero_share is not null
                   and not coalesce((x ->> 'spares_preassigned')::boolean and p.is_preassigned, false)
              then format('zero share by fairsharepolicy: %s', p.zero_share) end
$$;

comment on function brokerage.rule_zero_share(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'zero-share: the fair share policy of the queue has a share for the task. Parameter spares_preassigned (boolean).';
