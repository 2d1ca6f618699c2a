-- lifecycle.md, Timeouts: a job that is brokered again is closed, and its part of the input goes back to its task, which gets a new job of it in the next brokerage cycle;
-- the old one says where it was. A job that was not made here is only closed.
create or replace function lifecycle.return_to_task(p_setup text, p_job_id bigint, p_why text) returns text
language plpgsql
as $$
declare
  v_from text := lifecycle.end_job(p_setup, p_job_id, 'closed', p_why, 'rebrokered');
  v_job workload.job;
begin
  update workload.job j
     set rebrokered = (select max(o.rebrokered) + 1 from workload.job o where o.setup = p_setup and o.task_id = j.task_id and o.number = j.number)
   where j.setup = p_setup and j.job_id = p_job_id and j.number is not null
  returning j.* into v_job;
  if found then
    update brokerage.task_state s
       set assigned_jobs = greatest(s.assigned_jobs - 1, 0), retry_at = null
     where s.setup = p_setup and s.task_id = v_job.task_id and s.algorithm in ('production_job', 'analysis_job');
  end if;
  return v_from;
end $$;

comment on function lifecycle.return_to_task(text, bigint, text) is
'Closes a job (sub_status rebrokered) and gives its work back to its task, which is brokered again; returns the status it had. Errors: PB004 (no such job), PB005 (it has ended).';
