-- The setting history_kept is the same for both histories; lifecycle.maintain knows it (taskqueue.history_kept).
create or replace function workload.make_history_partitions(p_kept interval, p_days int default 3) returns bigint
language sql as $$
  select resource.keep_partitions('workload.job_history', p_kept, p_days)
$$;

comment on function workload.make_history_partitions(interval, int) is
  'Makes the partitions of workload.job_history for today (UTC) and the days ahead, '
  'and drops those beyond the retention; returns how many changed.';
