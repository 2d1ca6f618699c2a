-- This is the maintenance without timeouts: zero counts and partitions of the history, for all setups, and jobs of one
-- setup that ended long ago.
create or replace function lifecycle.maintain(p_setup text default null) returns table (step text, changed bigint)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
begin
  if p_setup is not null then
    step := 'ended jobs';
    changed := lifecycle.forget_ended(p_setup);
    return next;
    return;
  end if;
  step := 'job counts';
  changed := workload.clean_counts();
  return next;
  step := 'job history partitions';
  changed := workload.make_history_partitions(taskqueue.history_kept());
  return next;
end $$;

comment on function lifecycle.maintain(text) is
  'Forgets the ended jobs of a setup that are older than jobs_kept; without a setup it removes counts that are zero, '
  'and makes and drops partitions of the history of jobs. Returns a row per step with its result. Two simultaneous '
  'calls are safe. Errors: PB001 (no such setup), PB002 (setup not granted).';
