-- MATCHING.md, Condition JobID: such a job is taken without a draw.
create or replace function taskqueue.take_job(p_setup text, p_job_id bigint, p_task_queue_id bigint)
returns taskqueue.card
language plpgsql as $$
declare
  v_job taskqueue.job;
begin
  -- plan: the delete of a wanted job
  delete from taskqueue.job j
   where j.setup = p_setup and j.ctid = (select l.ctid from taskqueue.job l
                                          where l.setup = p_setup and l.job_id = p_job_id
                                            and l.task_queue_id = p_task_queue_id and not l.held
                                            for update skip locked)
  returning j.* into v_job;
  if found then
    -- plan: the change of the count by a wanted job
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, entry_id)
    values (p_setup, p_task_queue_id, v_job.user_priority, -1, v_job.entry_id);
    perform taskqueue.drop_task_queue_if_empty(p_setup, p_task_queue_id);
  end if;
  return row(v_job.job_id, v_job.user_priority, v_job.attempts + 1, v_job.losses, v_job.failures, v_job.last_token,
             v_job.avoid, v_job.avoid_until, v_job.brokered, v_job.entry_id, null, null, null, null, null, null, null,
             null, null, null)::taskqueue.card;
end $$;

comment on function taskqueue.take_job(text, bigint, bigint) is
  'Takes a job that was asked for by its id out of waiting; null if it is held, locked, or waits elsewhere.';
