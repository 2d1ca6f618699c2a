-- facts-and-formulas.md, direct-io-used: such input takes no scratch.
create or replace function brokerage.reads_directly(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns boolean
language sql stable parallel safe as $$
  select t.is_merging is not true and (
    q.reads_always_directly is true
    or t.use_local_io is not true and t.allow_input_lan is not null and q.direct_access_lan is true)
$$;

comment on function brokerage.reads_directly(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'Whether jobs of the task read their input from the storage at the queue, without a copy in scratch.';
