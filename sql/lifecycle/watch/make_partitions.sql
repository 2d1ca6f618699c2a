-- Partitions of the three histories belong to no setup. This is also the last step of an upgrade, so that the first
-- events of a new database find the partition of their day.
create or replace function lifecycle.make_partitions() returns table (step text, changed bigint)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
begin
  return query select 'history partitions', taskqueue.make_history_partitions();
  return query select m.step, m.changed from brokerage.maintain() m;
  return query select m.step, m.changed from lifecycle.maintain() m;
end $$;

comment on function lifecycle.make_partitions() is
  'Makes the partitions of today (UTC) and the days ahead of the histories of TaskQueues, jobs and decisions, and '
  'drops those beyond the retention. Returns a row per step with its result. Two simultaneous calls are safe.';
