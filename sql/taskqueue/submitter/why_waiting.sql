-- In words for the person whose job waits; which conditions fail is in taskqueue.explain_job.
create or replace function taskqueue.why_waiting(p_held boolean, p_task_queue taskqueue.task_queue) returns text
language sql stable as $$
  select case when p_held then 'an operator holds the job'
              when not p_task_queue.enabled then 'its TaskQueue is disabled'
              when p_task_queue.held then 'its TaskQueue is held'
              when exists (select from taskqueue.held_owner h
                            where h.setup = p_task_queue.setup and h.owner_dn = p_task_queue.owner_dn)
              then 'its owner is held'
              else 'no resource that fits has asked since, or others were drawn' end
$$;

comment on function taskqueue.why_waiting(boolean, taskqueue.task_queue) is
  'Why a job waits, in words: the job, its TaskQueue or its owner is held, or no resource came for it.';
