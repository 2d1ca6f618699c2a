-- A queue is matched while it is enabled and neither it nor its owner is held; exactly then it is posted, or about to
-- be.
create or replace function taskqueue.is_open(p_queue taskqueue.task_queue) returns boolean
language sql stable
as $$
  select p_queue.posted
      or p_queue.enabled and not p_queue.held
         and exists (select from taskqueue.unposted u
                      where u.setup = p_queue.setup and u.task_queue_id = p_queue.task_queue_id)
         and not exists (select from taskqueue.held_owner h
                          where h.setup = p_queue.setup and h.owner_dn = p_queue.owner_dn)
$$;

comment on function taskqueue.is_open(taskqueue.task_queue) is
  'Whether a TaskQueue may be matched: enabled, and neither it nor its owner held.';
