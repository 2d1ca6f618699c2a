-- See analysis-filters.md, storage-space. The rule looks at the output storage and, in a second pass, also at the input
-- storage.
create or replace function brokerage.rule_storage_space_analysis_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.has_output_storage is not true then 'it has no output storage'
    when coalesce(q.space_usable, 0) < t.storage_min_free_size_output
    then format('%s GB can be used in its output storage, STORAGE_MIN_FREE_SIZE_OUTPUT is %s',
                coalesce(q.space_usable, 0), t.storage_min_free_size_output)
    when t.second_pass and q.input_space_usable < t.storage_min_free_size
    then format('%s GB can be used in its input storage, STORAGE_MIN_FREE_SIZE is %s', q.input_space_usable,
                t.storage_min_free_size)
  end
$$;

comment on function brokerage.rule_storage_space_analysis_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'storage-space of analysis in panda2026: the output storage has enough usable space, and so has the input storage '
  'if input has to be transferred.';
