-- MATCHING.md, TaskQueue life.
create or replace function taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) returns boolean
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  return taskqueue.drop_task_queue_if_empty(p_setup, p_task_queue_id);
end $$;

comment on function taskqueue.delete_queue_if_empty(text, bigint) is
  'Removes a TaskQueue without jobs; false if it has jobs, does not exist, or is in use by another transaction. '
  'Errors: PB002 (setup not granted).';
