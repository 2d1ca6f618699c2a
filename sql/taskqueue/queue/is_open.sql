-- A TaskQueue is matched while it is enabled and neither it nor its owner is held; exactly then it is posted, or
-- about to be.
create or replace function taskqueue.is_open(p_task_queue taskqueue.task_queue) returns boolean
language sql stable as $$
  select p_task_queue.posted
      or p_task_queue.enabled and not p_task_queue.held
         and exists (select from taskqueue.unposted u
                      where u.setup = p_task_queue.setup and u.task_queue_id = p_task_queue.task_queue_id)
         and not exists (select from taskqueue.held_owner h
                          where h.setup = p_task_queue.setup and h.owner_dn = p_task_queue.owner_dn)
$$;

comment on function taskqueue.is_open(taskqueue.task_queue) is
  'Whether a TaskQueue may be matched: enabled, and neither it nor its owner held.';
