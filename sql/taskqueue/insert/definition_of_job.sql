create or replace function taskqueue.definition_of_job(p_setup text, p_job_id bigint) returns taskqueue.definition
language plpgsql stable as $$
declare
  v_definition taskqueue.definition;
begin
  select d.* into v_definition
    from (select q.definition_id from taskqueue.job j
            join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
           where j.setup = p_setup and j.job_id = p_job_id
          union all
          select l.definition_id from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) w
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id;
  if not found then
    raise exception 'job % is %, and no resource gets it', p_job_id, taskqueue.state_of_job(p_setup, p_job_id)
      using errcode = 'PB004', hint = 'Only a job that waits or is leased has requirements to match.';
  end if;
  return v_definition;
end $$;

comment on function taskqueue.definition_of_job(text, bigint) is
  'Requirements of a waiting or leased job. Errors: PB004.';
