-- DIRAC's getTaskQueueForJob.
create or replace function taskqueue.queue_of_job(p_setup text, p_job_id bigint) returns bigint
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform taskqueue.may_touch(resource.identify(p_setup), p_job_id);
  return (select j.task_queue_id from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id);
end $$;

comment on function taskqueue.queue_of_job(text, bigint) is 'TaskQueue that a job waits in; null when it does not wait. Errors: PB002 (setup or owner not granted).';
