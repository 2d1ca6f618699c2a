-- The function adds to the counts the jobs that were loaded or deleted without workload.change_status. One statement
-- reads the differences. In its snapshot a commit of another session shows in the jobs and in the counts alike, so no
-- session is locked out, and every difference comes from this transaction or from an earlier error. Nobody folds
-- until the transaction ends (workload.store).
create or replace function workload.correct_counts(p_setup text) returns bigint
language plpgsql security definer set search_path = workload, pg_temp as $$
declare
  v_corrected bigint;
begin
  perform resource.identify(p_setup);
  perform pg_advisory_xact_lock_shared(hashtext('workload.fold_counts'), 0);
  perform pg_advisory_xact_lock(hashtext('workload.correct_counts'), hashtext(p_setup));
  with difference as materialized (
    select d.* from workload.count_difference d where d.setup = p_setup
  ), by_queue as (
    insert into workload.queue_count as q (setup, queue, gshare, resource_type, nucleus, label, status, jobs, cores,
                                           disk_io, disk_io_jobs)
    select d.setup, d.queue, d.gshare, d.resource_type, d.nucleus, d.label, d.status, d.jobs, d.cores, d.disk_io,
           d.disk_io_jobs
      from difference d where d.counted_by = 'queue'
     order by d.setup, d.queue, d.gshare, d.resource_type, d.nucleus, d.label, d.status
    on conflict on constraint queue_count_key do update
       set jobs = q.jobs + excluded.jobs, cores = q.cores + excluded.cores, disk_io = q.disk_io + excluded.disk_io,
           disk_io_jobs = q.disk_io_jobs + excluded.disk_io_jobs
  ), by_user as (
    insert into workload.user_count as u (setup, user_name, working_group, queue, gshare, label,
                                          processing_type, status, jobs, cores)
    select d.setup, d.user_name, d.working_group, d.queue, d.gshare, d.label, d.processing_type, d.status, d.jobs,
           d.cores
      from difference d where d.counted_by = 'user'
     order by d.setup, d.user_name, d.working_group, d.queue, d.gshare, d.label, d.processing_type, d.status
    on conflict on constraint user_count_key do update
       set jobs = u.jobs + excluded.jobs, cores = u.cores + excluded.cores
  ), by_task as (
    insert into workload.task_count as t (setup, task_id, status, jobs, cores)
    select d.setup, d.task_id, d.status, d.jobs, d.cores
      from difference d where d.counted_by = 'task'
     order by d.setup, d.task_id, d.status
    on conflict on constraint task_count_key do update
       set jobs = t.jobs + excluded.jobs, cores = t.cores + excluded.cores
  )
  select count(*) into v_corrected from difference d;
  return v_corrected;
end $$;

comment on function workload.correct_counts(text) is
  'Recounts the jobs of a setup and corrects the counts by the differences. Returns the number of counts changed, 0 if '
  'the counts were right. Other sessions do not wait for this call. Errors: PB002 (setup not granted).';
