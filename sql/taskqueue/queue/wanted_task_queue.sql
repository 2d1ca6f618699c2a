-- MATCHING.md, Condition JobID: a description with a JobID gets only that job, if it waits and its TaskQueue matches.
-- Inlined.
create or replace function taskqueue.wanted_task_queue(p_setup text, p_offer taskqueue.offer)
returns table (task_queue_id bigint, definition_id bigint)
language sql stable rows 1 as $$
  -- plan: the queue of a wanted job
  select q.task_queue_id, d.definition_id
    from taskqueue.job j
    join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
    join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
   where j.setup = p_setup and j.job_id = p_offer.job_id and not j.held and q.is_open
     and taskqueue.accepts(d, p_offer)
$$;

comment on function taskqueue.wanted_task_queue(text, taskqueue.offer) is
  'The TaskQueue of the job that an offer asks for. No row means that the job does not wait, is held, or is in a '
  'TaskQueue that does not match.';
