-- See production-filters.md, use-only-local-data. If the task has any input, missing files of size 0 also count.
create or replace function brokerage.rule_use_only_local_data(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when q.uses_only_local_data and t.input_bytes > 0 and t.input_files > coalesce(p.available_files, 0)
    then format('%s files are missing, the queue only uses local data',
                coalesce(t.input_files, 0) - coalesce(p.available_files, 0))
  end
$$;

comment on function brokerage.rule_use_only_local_data(
  brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'use-only-local-data: all of the input is at the queue, if the queue uses only local data.';
