-- This is DIRAC's deleteJob: the job leaves the TaskQueues. It ends as closed, so that a record of it stays.
create or replace function taskqueue.delete_job(p_setup text, p_job_id bigint) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  perform taskqueue.enter_setup(p_setup);
  return taskqueue.end_waiting(p_setup, p_job_id, 'closed', v_identity);
end $$;

comment on function taskqueue.delete_job(text, bigint) is
  'Takes a waiting job out of its TaskQueue and ends it as closed; returns that TaskQueue, or null if the job did not '
  'wait. Errors: PB002 (setup or owner not granted).';
