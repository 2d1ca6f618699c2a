-- See production-filters.md, storage-space. The free space, without corrections, must be over 200 GB.
create or replace function brokerage.rule_storage_space(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.has_output_storage and coalesce(q.space_free, 0) <= 200
    then format('%s GB are free in its output storage, not over 200', coalesce(q.space_free, 0))
  end
$$;

comment on function brokerage.rule_storage_space(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'storage-space: more than 200 GB are free in the default output storage of the queue.';
