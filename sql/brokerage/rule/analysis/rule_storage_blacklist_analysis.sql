-- See analysis-filters.md, storage-blacklist. The rule is the same as in production, but has only one tag.
create or replace function brokerage.rule_storage_blacklist_analysis(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select regexp_replace(brokerage.rule_storage_blacklist(t, q, p), '^-[a-z_]+: ', '')
$$;

comment on function brokerage.rule_storage_blacklist_analysis(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'storage-blacklist of analysis: an input storage can be read and an output storage can be written over LAN.';
