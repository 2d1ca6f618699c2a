-- If a world was just loaded and has no statistics, the planner expects a handful of rows, and a batch takes minutes
-- instead of seconds.
create or replace function brokerage.refresh_statistics() returns void
language plpgsql security definer set search_path = brokerage, pg_temp
set client_min_messages = error as $$  -- another session is analyzing the tables that are skipped
begin
  analyze (skip_locked) resource.queue, resource.queue_activity, resource.queue_storage, resource.slot,
    resource.storage, resource.link, resource.software, resource.software_tag,
    resource.architecture_level, resource.worker_gpu, resource.pilot_gpu, workload.dataset, workload.dataset_file,
    workload.replica,
    workload.task, workload.task_dataset, workload.input_digest, workload.input_run,
    workload.statistic, workload.user_queue_statistic, workload.job, workload.job_change, workload.queue_count,
    workload.user_count, workload.task_count, workload.start_count,
    workload.end_count, resource.account, resource.pilot_request;
end $$;

comment on function brokerage.refresh_statistics() is
  'Updates the planner''s statistics after a large load, as autovacuum would within minutes.';
