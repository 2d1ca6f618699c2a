-- DIRAC's deleteJob: the job leaves the TaskQueues. It ends as closed, so that nothing is lost.
create or replace function taskqueue.delete_job(p_setup text, p_job_id bigint) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  perform taskqueue.enter_setup(p_setup);
  return taskqueue.end_waiting(p_setup, p_job_id, 'closed', v_identity);
end $$;

comment on function taskqueue.delete_job(text, bigint) is
  'Takes a waiting job out of the TaskQueues, ended as closed; returns the queue it was in, null when it did not wait. '
  'Errors: PB002 (setup or owner not granted).';
