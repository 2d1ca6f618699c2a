-- LEASES.md, Holds: a held job stays in its TaskQueue, is not matched, and does not count as waiting.
create or replace function taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) returns bigint
language plpgsql as $$
declare
  v_job taskqueue.job;
begin
  select j.* into v_job from taskqueue.job j
   where j.setup = p_setup and j.job_id = p_job_id and j.held <> p_held for update;
  if found then
    update taskqueue.job j
       set held = p_held, entry_id = nextval('taskqueue.entry_id')
     where j.setup = p_setup and j.job_id = p_job_id;
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id, entry_id)
    values (p_setup, v_job.task_queue_id, v_job.user_priority, case when p_held then -1 else 1 end,
            case when not p_held then p_job_id end, case when p_held then v_job.entry_id end);
    insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, user_priority, role_name,
                                   subject)
    values (p_setup, resource.clock(p_setup), p_job_id, v_job.attempts,
            case when p_held then 'held' else 'resumed' end, v_job.task_queue_id, v_job.user_priority,
            resource.caller(), (resource.subject()).name);
    return 1;
  end if;
  if exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
    return 0;
  elsif exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) then
    raise exception 'job % is leased', p_job_id
      using errcode = 'PB005', hint = 'Only a waiting job can be held; cancel_job asks its agent to kill it.';
  end if;
  raise exception 'job % does not wait in setup %', p_job_id, p_setup
    using errcode = 'PB004', hint = 'It has ended, was never inserted, or its input is not there yet.';
end $$;

comment on function taskqueue.set_job_held(text, bigint, boolean) is
  'Holds or resumes a waiting job and notes that in the history; returns 1 if it changed. Errors: PB004 (does not '
  'wait), PB005 (leased).';
