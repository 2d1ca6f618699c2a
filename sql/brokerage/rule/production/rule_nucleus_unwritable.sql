-- See network.md, nucleus-unwritable. The rule rejects if write_wan of the nucleus's default output storage is OFF or
-- TEST.
create or replace function brokerage.rule_nucleus_unwritable(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.nucleus_is_writable is false and p.is_nucleus_queue is not true
    then format('the storage of %s cannot be written over WAN', coalesce(t.nucleus, 'the nucleus'))
  end
$$;

comment on function brokerage.rule_nucleus_unwritable(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'nucleus-unwritable: the nucleus can take outputs from elsewhere; its own queues are exempt.';
