-- Locks the row of a TaskQueue whose postings the caller changes. Agents never wait for this lock: they skip a locked
-- TaskQueue that they find empty.
create or replace function taskqueue.lock_task_queue(p_setup text, p_task_queue_id bigint) returns void
language plpgsql as $$
begin
  perform taskqueue.join_line(p_setup);
  perform from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update;
  if not found then
    raise exception 'there is no TaskQueue % in setup %', coalesce(p_task_queue_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'monitor.task_queue lists the TaskQueues; an empty one disappears.';
  end if;
end $$;

comment on function taskqueue.lock_task_queue(text, bigint) is
  'Joins the line of those who wait for posting lists, and locks the row of a TaskQueue until the transaction ends. '
  'Errors: PB004 (no such TaskQueue).';
