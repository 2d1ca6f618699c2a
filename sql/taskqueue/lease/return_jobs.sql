-- LEASES.md, Returned jobs: the caller has locked the leases. Jobs with the same requirements go back together.
create or replace function taskqueue.return_jobs(
  p_setup text, p_leases taskqueue.lease[], p_why text default 'release_job', p_event text default 'released',
  p_is_loss boolean default false
) returns bigint
language plpgsql as $$
declare
  v_group record;
  v_task_queue_id bigint;
  v_made bigint[];
  v_all_made bigint[] := '{}'::bigint[];
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
  for v_group in
    select d.requirements, array_agg(l.job_id order by l.job_id) as ids,
           array_agg(l.user_priority::int order by l.job_id) as priorities
      from unnest(p_leases) l join taskqueue.definition d on d.setup = p_setup and d.definition_id = l.definition_id
     group by d.requirements
     order by md5(d.requirements::text)
  loop
    select p.task_queue_id, p.made
      into v_task_queue_id, v_made
      from taskqueue.place_jobs(p_setup, v_group.requirements, v_group.ids, v_group.priorities) p;
    v_all_made := v_all_made || v_made;
  end loop;
  perform taskqueue.open_task_queues(p_setup, v_all_made);
  update taskqueue.job j
     set attempts = l.attempt, losses = least(l.losses + p_is_loss::int, 32767)
    from unnest(p_leases) l
   where j.setup = p_setup and j.job_id = l.job_id;
  perform taskqueue.free_slots(p_setup, array(select l.job_id from unnest(p_leases) l));
  perform taskqueue.note_events(
    array(select (l, p_event, null, null, null, null)::taskqueue.lease_event from unnest(p_leases) l), true);
  return v_task_queue_id;
end $$;

comment on function taskqueue.return_jobs(text, taskqueue.lease[], text, text, boolean) is
  'Puts leased jobs back into TaskQueues of their requirements and keeps their attempts; returns the TaskQueue of the '
  'last job. p_is_loss: whether the jobs were lost, which counts towards the setting attempts. Errors: PB005 '
  '(the status of a brokered job does not allow it).';
