-- MATCHING.md, TaskQueue life.
create or replace function taskqueue.delete_empty_queues(p_setup text) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  return (select count(*) filter (where taskqueue.drop_task_queue_if_empty(p_setup, q.task_queue_id))
            from taskqueue.task_queue q
           where q.setup = p_setup
             and not exists (select from taskqueue.job j
                              where j.setup = q.setup and j.task_queue_id = q.task_queue_id));
end $$;

comment on function taskqueue.delete_empty_queues(text) is
  'Removes the TaskQueues without jobs; returns how many. Errors: PB002 (setup not granted).';
