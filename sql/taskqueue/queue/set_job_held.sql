-- LEASES.md, Holds: a held job stays in its TaskQueue, is not matched, and does not count as waiting. If a retry
-- rule holds the job, a hold by an operator replaces this hold. A resumption of a job with a pending change makes the
-- change due (taskqueue.change_due).
create or replace function taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) returns bigint
language plpgsql as $$
declare
  v_job taskqueue.job;
  v_changes boolean;
begin
  select j.* into v_job from taskqueue.job j
   where j.setup = p_setup and j.job_id = p_job_id and (j.held <> p_held or p_held and j.not_before is not null)
     for update;
  if found then
    v_changes := v_job.held and exists (
      select from taskqueue.pending_change p
       where p.setup = p_setup and p.job_id = p_job_id and p.entry_id = v_job.entry_id);
    update taskqueue.job j
       set held = p_held or v_changes, not_before = case when v_changes and not p_held then resource.clock(p_setup) end,
           entry_id = case when v_changes then v_job.entry_id else nextval('taskqueue.entry_id') end
     where j.setup = p_setup and j.job_id = p_job_id;
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id, entry_id)
    select p_setup, v_job.task_queue_id, v_job.user_priority, case when p_held then -1 else 1 end,
           case when not p_held then p_job_id end, case when p_held then v_job.entry_id end
     where v_job.held <> p_held and not v_changes;
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
