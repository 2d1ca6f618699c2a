-- Jobs whose work has already gone back are left out.
create or replace function lifecycle.retry_task(p_setup text, p_task_id bigint)
returns table (job_id bigint, answer text)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if not exists (select from workload.task t where t.setup = p_setup and t.task_id = p_task_id) then
    raise exception 'there is no task % in setup %', coalesce(p_task_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Tasks are loaded with a world.';
  end if;
  return query
    select r.job_id, r.answer
      from lifecycle.retry_jobs(p_setup, array(select j.job_id from workload.job j
                                                where j.setup = p_setup and j.task_id = p_task_id
                                                  and j.status = 'failed' and j.rebrokered = 0)) r;
end $$;

comment on function lifecycle.retry_task(text, bigint) is
  'Gives the work of all failed jobs of a task back to it, as lifecycle.retry_jobs does. '
  'Errors: PB002 (setup not granted), PB004 (no such task).';
