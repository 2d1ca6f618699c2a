-- See production-filters.md, direct-io-only. panda2026 exempts merging.
create or replace function brokerage.rule_direct_io_only(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb
) returns text
language sql stable parallel safe as $$
  select case
    when t.allow_input_lan = 2 and q.direct_access_lan is not true and q.reads_always_directly is not true
         and not coalesce((x ->> 'spares_merging')::boolean and t.is_merging, false)
    then 'the task only reads its input directly, the queue has no direct access'
  end
$$;

comment on function brokerage.rule_direct_io_only(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
  'direct-io-only: a task whose input is only read directly needs direct access to the local storage. Parameter '
  'spares_merging (boolean).';
