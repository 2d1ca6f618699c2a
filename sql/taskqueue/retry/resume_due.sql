-- RETRIES.md: jobs that a retry rule holds are matched again when they are due. Jobs with a pending change are left to
-- taskqueue.change_due.
create or replace function taskqueue.resume_due(p_setup text, p_now timestamptz, p_most int) returns bigint
language plpgsql as $$
declare
  v_resumed bigint;
begin
  with due as materialized (
    select j.ctid from taskqueue.job j
     where j.setup = p_setup and j.not_before <= p_now
       and not exists (select from taskqueue.pending_change p
                        where p.setup = j.setup and p.job_id = j.job_id and p.entry_id = j.entry_id)
     order by j.not_before limit p_most
       for update skip locked
  ), resumed as (
    update taskqueue.job j
       set held = false, not_before = null, entry_id = nextval('taskqueue.entry_id')
     where j.ctid = any (array(select d.ctid from due d))
    returning j.job_id, j.attempts, j.task_queue_id, j.user_priority
  ), counted as (
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
    select p_setup, r.task_queue_id, r.user_priority, count(*), min(r.job_id)
      from resumed r group by r.task_queue_id, r.user_priority
  ), noted as (
    insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, user_priority, role_name)
    select p_setup, p_now, r.job_id, r.attempts, 'resumed', r.task_queue_id, r.user_priority, resource.caller()
      from resumed r
  )
  select count(*) into v_resumed from resumed r;
  return v_resumed;
end $$;

comment on function taskqueue.resume_due(text, timestamptz, int) is
  'Resumes up to p_most due jobs that a retry rule holds and that have no pending change; returns how many.';
