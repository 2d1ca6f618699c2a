-- LEASES.md, Ended jobs: a lease ends, and the job is in taskqueue.ended from the same commit on.
create or replace function taskqueue.end_lease(
  p_lease taskqueue.lease, p_outcome text, p_why text default null, p_sub_status text default null
) returns void
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_lease.setup);
begin
  if p_lease.request_id is not null and p_lease.matched_at > v_now - interval '10 minutes' then
    perform taskqueue.keep_leased_answers(array[p_lease]);
  end if;
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  insert into taskqueue.ended (setup, job_id, attempts, token, task_queue_id, outcome, ended_at)
  values (p_lease.setup, p_lease.job_id, p_lease.attempt, p_lease.token, p_lease.task_queue_id, p_outcome, v_now);
  if p_lease.brokered then
    perform workload.move_job(p_lease.setup, p_lease.job_id, p_outcome,
                             coalesce(p_why, case when p_outcome = 'cancelled' then p_lease.kill_reason end,
                                      'finish_job'), p_sub_status);
  end if;
  perform taskqueue.free_slots(p_lease.setup, array[p_lease.job_id]);
  perform taskqueue.note_ends(array[p_lease], p_outcome);
end $$;

comment on function taskqueue.end_lease(taskqueue.lease, text, text, text) is
  'Ends a leased job with an outcome and returns its limit slots. A brokered job gets the matching status, and its '
  'history gets the reason: p_why, or the reason of the kill, or finish_job. Errors: PB005 (its status does not allow '
  'this end).';
