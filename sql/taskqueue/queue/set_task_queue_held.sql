create or replace function taskqueue.set_task_queue_held(p_setup text, p_task_queue_id bigint, p_held boolean)
returns bigint
language plpgsql as $$
begin
  perform taskqueue.lock_task_queue(p_setup, p_task_queue_id);
  update taskqueue.task_queue q
     set held = p_held
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id and q.held <> p_held;
  if not found then
    return 0;
  end if;
  perform taskqueue.post_task_queues(p_setup, array[p_task_queue_id]);
  perform taskqueue.mark_siblings(p_setup, p_task_queue_id);
  return 1;
end $$;

comment on function taskqueue.set_task_queue_held(text, bigint, boolean) is
  'Holds or resumes a TaskQueue; returns 1, or 0 if nothing changed. Errors: PB004.';
