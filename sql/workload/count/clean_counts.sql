-- The function removes counts that are 0, and minutes that are too old to be read; the last start of a queue stays. It
-- skips counts that another session is changing, so nobody waits.
create or replace function workload.clean_counts() returns bigint
language plpgsql as $$
declare
  v_removed bigint := 0;
  v_count bigint;
begin
  delete from workload.queue_count c where c.ctid = any (array(
    select i.ctid from workload.queue_count i
     where i.jobs = 0 and i.cores = 0 and i.disk_io = 0 and i.disk_io_jobs = 0
       for update skip locked));
  get diagnostics v_count = row_count;
  v_removed := v_removed + v_count;
  delete from workload.user_count c
   where c.ctid = any (
     array(select i.ctid from workload.user_count i where i.jobs = 0 and i.cores = 0 for update skip locked));
  get diagnostics v_count = row_count;
  v_removed := v_removed + v_count;
  delete from workload.task_count c
   where c.ctid = any (
     array(select i.ctid from workload.task_count i where i.jobs = 0 and i.cores = 0 for update skip locked));
  get diagnostics v_count = row_count;
  v_removed := v_removed + v_count;
  delete from workload.start_count c where c.ctid = any (array(
    select i.ctid from workload.start_count i
      join resource.setup_time t on t.setup = i.setup
     where i.minute < t.now - interval '2 days'
       and exists (select from workload.start_count n
                    where n.setup = i.setup and n.queue is not distinct from i.queue and n.minute > i.minute)
       for update of i skip locked));
  get diagnostics v_count = row_count;
  v_removed := v_removed + v_count;
  delete from workload.end_count c where c.ctid = any (array(
    select i.ctid from workload.end_count i
      join resource.setup_time t on t.setup = i.setup
     where i.minute < t.now - interval '8 days'
       for update of i skip locked));
  get diagnostics v_count = row_count;
  return v_removed + v_count;
end $$;

comment on function workload.clean_counts() is
  'Removes counts that are 0, starts older than two days except the last of a queue, and ends older than eight days; '
  'returns the number of rows removed.';
