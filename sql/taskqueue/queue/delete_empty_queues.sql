-- MATCHING.md, TaskQueue life. The index is read once for each TaskQueue, since a join would read every waiting job.
create or replace function taskqueue.delete_empty_queues(p_setup text) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  return (select count(*) filter (where taskqueue.drop_task_queue_if_empty(p_setup, q.task_queue_id))
            from taskqueue.task_queue q
           where q.setup = p_setup
             and (select true from taskqueue.job j
                   where j.setup = q.setup and j.task_queue_id = q.task_queue_id limit 1) is null);
end $$;

comment on function taskqueue.delete_empty_queues(text) is
  'Removes the TaskQueues without jobs; returns how many. Errors: PB002 (setup not granted).';
