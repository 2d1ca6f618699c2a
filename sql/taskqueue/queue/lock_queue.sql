-- The row of a queue, for who changes its postings. Agents never wait for this lock: they pass the
-- queue over when they find it empty.
create or replace function taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) returns void
language plpgsql
as $$
begin
  perform from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update;
  if not found then
    raise exception 'there is no TaskQueue % in setup %', coalesce(p_task_queue_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Look into monitor.task_queue; an empty queue disappears.';
  end if;
end $$;

comment on function taskqueue.lock_queue(text, bigint) is
  'Locks the row of a TaskQueue until the transaction ends. Errors: PB004 (no such queue).';
