-- MATCHING.md, TaskQueue life. The index is read once for each TaskQueue, since a join would read every waiting job.
create or replace function taskqueue.delete_empty_queues(p_setup text, p_end timestamptz default null)
returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_id bigint;
  v_deleted bigint := 0;
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  for v_id in
    select q.task_queue_id
      from taskqueue.task_queue q
     where q.setup = p_setup
       and (select true from taskqueue.job j
             where j.setup = q.setup and j.task_queue_id = q.task_queue_id limit 1) is null
  loop
    v_deleted := v_deleted + coalesce(taskqueue.drop_task_queue_if_empty(p_setup, v_id), false)::int;
    exit when clock_timestamp() > p_end;
  end loop;
  return v_deleted;
end $$;

comment on function taskqueue.delete_empty_queues(text, timestamptz) is
  'Removes the TaskQueues without jobs, until p_end by the clock of the server (null = all; a later call goes on); '
  'returns how many. Errors: PB002 (setup not granted).';
