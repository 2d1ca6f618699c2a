-- A waiting job ends without having run. If an agent is taking the job, this call waits, and the agent gets the job.
create or replace function taskqueue.end_waiting(
  p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity, p_why text default null,
  p_sub_status text default null
) returns bigint
language plpgsql as $$
declare
  v_job taskqueue.job;
begin
  delete from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id returning j.* into v_job;
  if not found then
    return null;
  end if;
  perform taskqueue.may_touch(p_identity, p_job_id, q.definition_id) from taskqueue.task_queue q
    where q.setup = p_setup and q.task_queue_id = v_job.task_queue_id;
  if v_job.brokered then
    perform workload.move_jobs(p_setup, array[p_job_id], array[p_outcome], array[coalesce(p_why, p_outcome)],
                               p_sub_status);
  end if;
  insert into taskqueue.ended (setup, job_id, attempts, user_priority, brokered, task_queue_id, definition_id, outcome,
                               ended_at)
  select p_setup, p_job_id, v_job.attempts, v_job.user_priority, v_job.brokered, v_job.task_queue_id, q.definition_id,
         p_outcome, resource.clock(p_setup)
    from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = v_job.task_queue_id;
  -- the owner is kept, since the owner may ask for the job when it is forgotten (taskqueue.owner_of_job)
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, owner_group, owner_dn,
                                 user_priority, role_name, subject, why)
  select p_setup, resource.clock(p_setup), p_job_id, v_job.attempts, p_outcome, v_job.task_queue_id, q.definition_id,
         q.owner_group, q.owner_dn, v_job.user_priority, resource.caller(), (resource.subject()).name,
         case when p_outcome = 'cancelled' then p_why end
    from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = v_job.task_queue_id;
  if not v_job.held then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, entry_id)
    values (p_setup, v_job.task_queue_id, v_job.user_priority, -1, v_job.entry_id);
  end if;
  perform taskqueue.drop_task_queue_if_empty(p_setup, v_job.task_queue_id);
  return v_job.task_queue_id;
end $$;

comment on function taskqueue.end_waiting(text, bigint, text, resource.identity, text, text) is
  'Ends a waiting job; returns its TaskQueue, or null if it does not wait. Errors: PB002 (not the caller''s job).';
