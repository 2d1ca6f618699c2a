-- The setting history_kept is the same for both histories; lifecycle.maintain knows it (taskqueue.history_kept).
create or replace function workload.make_history_partitions(p_kept interval, p_days int default 3) returns bigint
language plpgsql as $$
begin
  return resource.keep_partitions('workload.job_history', p_kept, p_days);
exception when lock_not_available then
  return 0;  -- a long transaction reads the history: the next call tries again
end $$;

comment on function workload.make_history_partitions(interval, int) is
  'Makes the partitions of workload.job_history for today (UTC) and the days ahead, and drops those beyond the '
  'retention. Returns the number of partitions changed, 0 if the lock was not granted.';
