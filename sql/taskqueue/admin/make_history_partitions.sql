create or replace function taskqueue.make_history_partitions(p_days int default 3) returns bigint
language sql as $$
  select resource.keep_partitions('taskqueue.history', taskqueue.history_kept(), p_days)
$$;

comment on function taskqueue.make_history_partitions(int) is
  'Makes the partitions of the history for today (UTC) and the days ahead, and drops those beyond the retention; '
  'returns how many partitions changed.';
