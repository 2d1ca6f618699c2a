-- After the call no broker takes the task, and its jobs are cancelled.
create or replace function lifecycle.cancel_task(p_setup text, p_task_id bigint, p_reason text default 'cancelled')
returns table (job_id bigint, answer text)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_before text;
  v_job_ids bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.join_line(p_setup);  -- lifecycle.cancel_jobs would wait there with the task locked
  select t.status into v_before from workload.task t where t.setup = p_setup and t.task_id = p_task_id for update;
  if not found then
    raise exception 'there is no task % in setup %', coalesce(p_task_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Tasks are loaded with a world.';
  end if;
  update workload.task t set status = 'aborted' where t.setup = p_setup and t.task_id = p_task_id;
  perform resource.note_change(p_setup, 'task', p_task_id::text, jsonb_build_object('status', v_before),
                               jsonb_build_object('status', 'aborted', 'reason', p_reason));
  v_job_ids := array(select j.job_id from workload.job j
                      where j.setup = p_setup and j.task_id = p_task_id and j.ended is null
                      order by j.job_id);
  for v_first in 1..cardinality(v_job_ids) by 100000 loop  -- as many as a call takes
    return query
      select c.job_id, c.answer
        from lifecycle.cancel_jobs(p_setup, v_job_ids[v_first:v_first + 99999], p_reason) c;
  end loop;
end $$;

comment on function lifecycle.cancel_task(text, bigint, text) is
  'Cancels a task (JEDI''s status aborted) and its jobs that have not ended, with an answer for each job as from '
  'lifecycle.cancel_jobs. Errors: PB001 (no reason), PB002 (setup not granted), PB004 (no such task).';
