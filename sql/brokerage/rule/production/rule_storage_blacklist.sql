-- See production-filters.md, storage-blacklist. The rule looks at LAN states of storages of every type; a queue without
-- storage in a direction passes.
create or replace function brokerage.rule_storage_blacklist(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.input_storages > 0 and coalesce(q.inputs_readable, 0) = 0
    then format('-read_lan_blacklist: none of its %s input storages can be read', q.input_storages)
    when q.output_storages > 0 and coalesce(q.outputs_writable, 0) = 0
    then format('-write_lan_blacklist: none of its %s output storages can be written', q.output_storages)
  end
$$;

comment on function brokerage.rule_storage_blacklist(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'storage-blacklist: an input storage can be read and an output storage can be written over LAN.';
