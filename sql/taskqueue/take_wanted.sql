-- Section 4, condition 11: with JobID only that job, if it is waiting and its queue matches.
create or replace function taskqueue.take_wanted(p_setup text, p_offer taskqueue.offer) returns taskqueue.taken
language plpgsql
as $$
declare
  v_taken taskqueue.taken;
  v_job taskqueue.job;
  v_queue_id bigint;
  v_free boolean;
begin
  select j.task_queue_id into v_queue_id
    from taskqueue.job j
    join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
    join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
   where j.setup = p_setup and j.job_id = p_offer.job_id and not j.held and q.posted and taskqueue.accepts(d, p_offer);
  if not found then
    return null;
  end if;
  select d into v_taken.definition
    from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
   where q.setup = p_setup and q.task_queue_id = v_queue_id;
  if p_offer.limited then
    select l.taken, l.slots into v_free, v_taken.slots from taskqueue.lock_slots(p_setup, (v_taken.definition).requirements, p_offer) l;
    if not v_free then
      return null;
    end if;
  end if;
  delete from taskqueue.job j
   where j.setup = p_setup and j.job_id = (
         select l.job_id from taskqueue.job l where l.setup = p_setup and l.job_id = p_offer.job_id and l.task_queue_id = v_queue_id and not l.held for update skip locked)
  returning j.* into v_job;
  if not found then
    return null;
  end if;
  insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change) values (p_setup, v_queue_id, v_job.user_priority, -1);
  perform taskqueue.drop_if_empty(p_setup, v_queue_id);
  v_taken.job := v_job;
  return v_taken;
end $$;

comment on function taskqueue.take_wanted(text, taskqueue.offer) is
'Takes the job that the offer wants out of waiting; null: it does not wait, is held or locked, or its queue does not match.';
