-- See network.md, link-blocked. A blocked link has closeness -1. In panda2026 links are not checked if the nucleus is
-- over its cap or unwritable.
create or replace function brokerage.rule_link_blocked(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when p.closeness = -1 and p.is_own is not true
         and not coalesce((x ->> 'nucleus_first')::boolean
                          and coalesce(brokerage.rule_nucleus_queue_cap(t, q, p, x),
                                       brokerage.rule_nucleus_unwritable(t, q, p)) is not null, false)
    then format('the link to %s is blocked: closeness is -1', coalesce(t.nucleus, 'the nucleus'))
  end
$$;

comment on function brokerage.rule_link_blocked(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'link-blocked: the link to the nucleus is not blocked; the nucleus''s own queues need no link. Parameters: '
  'nucleus_first (boolean: the rule does not apply where nucleus-queue-cap or nucleus-unwritable rejects), and those '
  'of brokerage.rule_nucleus_queue_cap.';
