-- This is DIRAC's getTaskQueueForJob.
create or replace function taskqueue.queue_of_job(p_setup text, p_job_id bigint) returns bigint
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_task_queue taskqueue.task_queue;
begin
  select q.* into v_task_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  if found then
    perform taskqueue.may_touch(v_identity, p_job_id, v_task_queue.definition_id);
  end if;
  return v_task_queue.task_queue_id;
end $$;

comment on function taskqueue.queue_of_job(text, bigint) is
  'The TaskQueue in which a job waits; null if it does not wait. Errors: PB002 (setup or owner not granted).';
