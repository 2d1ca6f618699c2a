-- See analysis-filters.md, storage-blacklist. Storages of every type count; transfers in and out count only in a second
-- pass.
create or replace function brokerage.rule_storage_blacklist_analysis_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when coalesce(q.inputs_readable, 0) = 0 then 'no input storage can be read over LAN'
    when coalesce(q.outputs_writable, 0) = 0 then 'no output storage can be written over LAN'
    when t.second_pass is not true then null
    when coalesce(q.inputs_writable_wan, 0) = 0 then 'no input storage can be written over WAN'
    when coalesce(q.outputs_readable_wan, 0) = 0 then 'no output storage can be read over WAN'
  end
$$;

comment on function brokerage.rule_storage_blacklist_analysis_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'storage-blacklist of analysis in panda2026: input can be read and output can be written; in a second pass input can '
  'be transferred in and output can be transferred out.';
