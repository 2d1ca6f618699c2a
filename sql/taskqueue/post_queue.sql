-- The postings of a queue are there while it is open: enabled, and neither it nor its owner held. The caller has locked the queue's row, or just made it, so
-- that postings never outlive a change and taskqueue.recompute_shares keeps out.
create or replace function taskqueue.post_queue(p_setup text, p_task_queue_id bigint) returns void
language plpgsql
as $$
begin
  delete from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id;
  insert into taskqueue.posting (setup, site, cpu_time, task_queue_id, definition_id, priority)
  select p_setup, w.site, w.cpu_time, w.task_queue_id, w.definition_id, w.priority
    from taskqueue.wanted_posting w
   where w.setup = p_setup and w.task_queue_id = p_task_queue_id;
end $$;

comment on function taskqueue.post_queue(text, bigint) is
'Makes the postings of a queue anew, from the queue and its requirement tables.';
