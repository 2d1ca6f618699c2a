-- Section 2, Size: new jobs go to the newest queue with room. Key share: the queue cannot be deleted before the caller commits. A queue that
-- somebody is deleting is passed over, so nobody waits for a deletion.
create or replace function taskqueue.queue_with_room(p_setup text, p_definition_id bigint, p_size bigint, out task_queue_id bigint, out room bigint)
language sql
as $$
  select q.task_queue_id, p_size - c.jobs
    from taskqueue.task_queue q
   cross join lateral taskqueue.jobs_in(q.setup, q.task_queue_id) c (jobs)
   where q.setup = p_setup and q.definition_id = p_definition_id and c.jobs < p_size
   order by q.task_queue_id desc
   limit 1
     for key share of q skip locked
$$;

comment on function taskqueue.queue_with_room(text, bigint, bigint) is
'The newest queue of a definition with fewer jobs than the size given, locked against deletion, and how many more it takes; null = none.';
