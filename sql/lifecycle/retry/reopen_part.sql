-- TIMEOUTS.md, Rules and actions. The next brokerage cycle makes a new job from the part. A job that brokerage did not
-- make has no part.
create or replace function lifecycle.reopen_part(p_setup text, p_job_id bigint) returns boolean
language plpgsql as $$
declare
  v_task_id bigint;
begin
  update workload.job j
     set rebrokered = (select max(o.rebrokered) + 1 from workload.job o
                        where o.setup = p_setup and o.task_id = j.task_id and o.number = j.number),
         retry_at = null
   where j.setup = p_setup and j.job_id = p_job_id and j.number is not null and j.rebrokered = 0
  returning j.task_id into v_task_id;
  if not found then
    return false;
  end if;
  update brokerage.task_state s
     set assigned_jobs = greatest(s.assigned_jobs - 1, 0), retry_at = null
   where s.setup = p_setup and s.task_id = v_task_id and s.algorithm in ('production_job', 'analysis_job');
  return true;
end $$;

comment on function lifecycle.reopen_part(text, bigint) is
  'Gives the work of an ended job back to its task, which is due for brokerage from then on; false if the job has no '
  'work to give back, or gave it back before.';
