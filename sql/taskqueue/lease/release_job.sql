-- LEASES.md, Returned jobs: a returned job keeps its id, user priority and count of attempts; its requirements stay
-- with the lease, so a TaskQueue that was removed is opened again. A job that is marked for kill does not go back.
create or replace function taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_attempt text := p_attempt;
  v_leases taskqueue.lease_event[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  if v_attempt is null then
    v_attempt := taskqueue.attempt_of_subject(p_setup, p_job_id, null);
  end if;
  v_leases := taskqueue.presented_leases(p_setup, array[p_job_id], array[v_attempt], array['cancelled']);
  if v_leases = '{}' then
    perform taskqueue.refuse_attempt(p_setup, p_job_id, v_attempt);
  elsif ((v_leases[1]).lease).kill_reason is not null then
    perform taskqueue.end_leases(p_setup, v_leases);
    return null;
  end if;
  return taskqueue.return_jobs(p_setup, array[(v_leases[1]).lease]);
end $$;

comment on function taskqueue.release_job(text, bigint, text) is
  'Puts a leased job back into its TaskQueue and returns the TaskQueue, or null if the job was marked for kill and '
  'ended as cancelled. A null attempt means the attempt of the subject that calls through the service. Errors: PB001 '
  '(attempt), PB002 (setup not granted), PB003 (stale attempt, or no such job).';
