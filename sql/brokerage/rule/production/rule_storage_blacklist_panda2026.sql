-- See production-filters.md, storage-blacklist. The rule checks four activities of DATADISKs and the sources of the
-- input, in this order. It does not apply where storage-space has rejected.
create or replace function brokerage.rule_storage_blacklist_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when brokerage.rule_storage_space_panda2026(t, q, p) is not null then null
    when q.datadisk_read_lan is not true then '-read_lan_blacklist: no input DATADISK can be read over LAN'
    when q.datadisk_write_lan is not true then '-write_lan_blacklist: no output DATADISK can be written over LAN'
    when (p.is_nucleus_queue is not true or p.input_is_local is not true) and q.datadisk_write_wan is not true
    then '-write_wan_blacklist: no input DATADISK can be written over WAN'
    when p.is_nucleus_queue is not true and q.datadisk_read_wan is not true
    then '-read_wan_blacklist: no output DATADISK can be read over WAN'
    when p.is_nucleus_queue is not true and p.has_readable_source is not true
    then '-source_blacklist: the input cannot be read over WAN anywhere'
  end
$$;

comment on function brokerage.rule_storage_blacklist_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'storage-blacklist of panda2026: input can be transferred in and read, and output can be written and transferred '
  'out.';
