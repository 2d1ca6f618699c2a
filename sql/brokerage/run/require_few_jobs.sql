create or replace function brokerage.require_few_jobs(p_setup text, p_task_ids bigint[], p_datasets text[]) returns void
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
declare
  v_task record;
begin
  perform resource.identify(p_setup);
  select i.task_id, greatest(i.jobs, i.jobs_by_output) as jobs, s.most_jobs
    into v_task
    from workload.input_digest i
    join brokerage.setting_in_force s on s.setup = i.setup
   where i.setup = p_setup and greatest(i.jobs, i.jobs_by_output) > s.most_jobs
     and (i.task_id = any (p_task_ids)
          or i.task_id in (select d.task_id from workload.task_dataset d
                            where d.setup = p_setup and d.direction = 'input' and d.dataset = any (p_datasets)))
   order by i.task_id
   limit 1;
  if found then
    raise exception 'task % makes % jobs of its input, more than %', v_task.task_id,
      to_char(v_task.jobs, 'FM999,999,999,999,999,999'), to_char(v_task.most_jobs, 'FM999,999,999,999')
      using errcode = 'PB001',
            hint = 'Raise nFilesPerJob, nEventsPerJob or nGBPerJob, split the task, or raise the setting most_jobs.';
  end if;
end $$;

comment on function brokerage.require_few_jobs(text, bigint[], text[]) is
  'Refuses tasks, given by their ids or by datasets that they read, whose input makes more jobs than the setting '
  'most_jobs. A load calls it. Errors: PB001 (such a task), PB002 (setup not granted).';
