-- See production-filters.md, storage-space. The rule compares the usable space, and equality passes.
create or replace function brokerage.rule_storage_space_panda2026(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.has_output_storage and coalesce(q.space_usable, 0) < t.storage_min_free_size
    then format('%s GB can be used in its output storage, STORAGE_MIN_FREE_SIZE is %s', coalesce(q.space_usable, 0),
                t.storage_min_free_size)
  end
$$;

comment on function brokerage.rule_storage_space_panda2026(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'storage-space of panda2026: the usable space of the queue''s default output storage is at least '
  'STORAGE_MIN_FREE_SIZE.';
