create or replace function taskqueue.make_history_partitions(p_days int default 3) returns bigint
language plpgsql as $$
begin
  return resource.keep_partitions('taskqueue.history', taskqueue.history_kept(), p_days);
exception when lock_not_available then
  return 0;  -- a long transaction is reading the history, so the next call tries again
end $$;

comment on function taskqueue.make_history_partitions(int) is
  'Makes the partitions of the history for today (UTC) and the days ahead, and drops those beyond the retention; '
  'returns how many partitions changed, 0 if it could not get the lock.';
