-- MATCHING.md, TaskQueue life: an inserter holds a key share lock on the TaskQueue until it commits, so a TaskQueue
-- never disappears during an insertion. A locked TaskQueue is left for the next call that finds it empty, so no call
-- waits. taskqueue.forget_hands removes the hand.
create or replace function taskqueue.drop_task_queue_if_empty(p_setup text, p_task_queue_id bigint) returns boolean
language plpgsql as $$
declare
  v_task_queue taskqueue.task_queue;
begin
  -- plan: whether the queue is empty
  if exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  select q.* into v_task_queue from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update skip locked;
  if not found
     or exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  perform taskqueue.remove_postings(p_setup, p_task_queue_id);
  delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.note_weights(p_setup, array[v_task_queue], -1);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)
  values (p_setup, v_task_queue.owner_group, resource.clock(p_setup));
  return true;
end $$;

comment on function taskqueue.drop_task_queue_if_empty(text, bigint) is
  'Removes a TaskQueue without jobs and everything that belongs to it; false if it has jobs, does not exist, or is in '
  'use by another transaction.';
