-- Section 8: from a lease back to waiting.
create or replace function taskqueue.return_job(p_lease taskqueue.lease, p_why text default 'release_job', p_event text default 'released') returns bigint
language plpgsql
as $$
declare
  v_queue_id bigint;
  v_made bigint[];
begin
  if p_lease.brokered then
    perform workload.move_job(p_lease.setup, p_lease.job_id, 'activated', p_why);
  end if;
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  select p.task_queue_id, p.made into v_queue_id, v_made
    from taskqueue.definition d
   cross join lateral taskqueue.place_jobs(p_lease.setup, d.requirements, array[p_lease.job_id], array[p_lease.user_priority::int]) p
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  perform taskqueue.open_queues(p_lease.setup, v_made);
  update taskqueue.job j set attempts = p_lease.attempt where j.setup = p_lease.setup and j.job_id = p_lease.job_id;
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, p_event);
  return v_queue_id;
end $$;

comment on function taskqueue.return_job(taskqueue.lease, text, text) is 'Puts a leased job back into a queue of its requirements, with its attempts; returns the queue.';
