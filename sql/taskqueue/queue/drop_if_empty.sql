-- Section 6: empty queues disappear, never racing an insert: an inserter holds a key share lock on the queue until
-- it commits, and a queue that is locked is left for the next who finds it empty. Nobody waits. Its counts are
-- left to taskqueue.clean_counts.
create or replace function taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) returns boolean
language plpgsql
as $$
declare
  v_queue taskqueue.task_queue;
begin
  if exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  select q.* into v_queue from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update skip locked;
  if not found
     or exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  perform taskqueue.vacate_places(p_setup, p_task_queue_id);
  delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.note_weight(p_setup, v_queue.owner_group, v_queue.owner_dn, v_queue.mean_weight, -1);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)
  values (p_setup, v_queue.owner_group, resource.clock(p_setup));
  return true;
end $$;

comment on function taskqueue.drop_if_empty(text, bigint) is
  'Removes a queue without jobs and everything of it; false when it has jobs, is not there, or somebody works on it.';
