-- The procedure commits after each task, so that no other call waits for all tasks. Therefore it is not SECURITY
-- DEFINER.
create or replace procedure instance.schedule(
  p_setup text, p_task_id bigint default null, p_commit boolean default true, inout p_placed bigint default null,
  inout p_requested bigint default null, inout p_released bigint default null, inout p_waiting bigint default null,
  inout p_unschedulable bigint default null
)
language plpgsql as $$
declare
  v_part record;
  v_done record;
begin
  p_placed := 0;
  p_requested := 0;
  p_released := 0;
  p_waiting := 0;
  p_unschedulable := 0;
  perform instance.forget_ended(p_setup);
  perform instance.follow_task_queues(p_setup);
  if p_commit then
    commit;
  end if;
  for v_part in select t.task_id, t.queue from instance.tasks_to_schedule(p_setup, p_task_id) t loop
    v_done := instance.schedule_task(p_setup, v_part.task_id, v_part.queue);
    p_placed := p_placed + v_done.placed;
    p_requested := p_requested + v_done.requested;
    p_released := p_released + v_done.released;
    p_waiting := p_waiting + v_done.waiting;
    p_unschedulable := p_unschedulable + v_done.unschedulable;
    if p_commit then
      commit;
    end if;
  end loop;
end $$;

comment on procedure instance.schedule(text, bigint, boolean, bigint, bigint, bigint, bigint, bigint) is
  'Packs the waiting steps of a task onto instances, as instance.schedule_task does; null means all tasks, one after '
  'the other. First it deletes old steps (instance.forget_ended) and follows the TaskQueues '
  '(instance.follow_task_queues). Returns the numbers of steps placed, of instances requested and released, of steps '
  'that wait, and of steps that are unschedulable. Commits after each task; within a transaction block give p_commit '
  '=> false. Errors: PB001 (no such setup), PB002 (setup not granted).';
