-- MATCHING.md, TaskQueue life: an operator can disable a TaskQueue and enable it again; a disabled one is not matched.
create or replace function taskqueue.set_task_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean)
returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  if p_enabled is null then
    raise exception 'enabled is null' using errcode = 'PB001', hint = 'Give true or false.';
  end if;
  perform taskqueue.lock_task_queue(p_setup, p_task_queue_id);
  update taskqueue.task_queue q
     set enabled = p_enabled
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id and q.enabled <> p_enabled;
  if not found then
    return;
  end if;
  perform resource.note_change(p_setup, 'TaskQueue', p_task_queue_id::text,
                               jsonb_build_object('enabled', not p_enabled), jsonb_build_object('enabled', p_enabled));
  perform taskqueue.post_task_queues(p_setup, array[p_task_queue_id]);
  perform taskqueue.mark_siblings(p_setup, p_task_queue_id);
end $$;

comment on function taskqueue.set_task_queue_enabled(text, bigint, boolean) is
  'Takes a TaskQueue out of matching, or back in. Errors: PB001, PB002 (setup not granted), PB004 (no such TaskQueue).';
