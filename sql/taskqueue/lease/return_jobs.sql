-- LEASES.md, Returned jobs: the caller has locked the leases.
create or replace function taskqueue.return_jobs(
  p_setup text, p_leases taskqueue.lease[], p_why text default 'release_job', p_event text default 'released',
  p_is_loss boolean default false
) returns bigint
language plpgsql as $$
declare
  v_task_queue_id bigint;
begin
  if exists (select from unnest(p_leases) l where l.brokered) then
    perform workload.move_jobs(p_setup, array_agg(l.job_id), array_agg('activated'::text), array_agg(p_why))
       from unnest(p_leases) l where l.brokered;
  end if;
  if exists (select from unnest(p_leases) l where l.request_id is not null) then
    perform taskqueue.keep_leased_answers(p_leases);
  end if;
  delete from taskqueue.lease l
   where l.setup = p_setup and l.job_id = any (array(select n.job_id from unnest(p_leases) n));
  v_task_queue_id := taskqueue.place_leased(p_setup, p_leases);
  update taskqueue.job j
     set attempts = l.attempt, losses = least(l.losses + p_is_loss::int, 32767), failures = l.failures,
         last_token = l.last_token, avoid = l.avoid, avoid_until = l.avoid_until
    from unnest(p_leases) l
   where j.setup = p_setup and j.job_id = l.job_id;
  perform taskqueue.free_slots(p_setup, array(select l.job_id from unnest(p_leases) l));
  perform taskqueue.note_events(
    array(select (l, p_event, null, null, null, null, null)::taskqueue.lease_event from unnest(p_leases) l), true);
  return v_task_queue_id;
end $$;

comment on function taskqueue.return_jobs(text, taskqueue.lease[], text, text, boolean) is
  'Puts leased jobs back into TaskQueues of their requirements and keeps their attempts; returns the TaskQueue of the '
  'last job. p_is_loss: whether the jobs were lost, which counts towards the setting attempts. Errors: PB005 '
  '(the status of a brokered job does not allow it).';
