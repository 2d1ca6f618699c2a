-- instance-scheduling.md: requirements may be unknown until the inputs are known.
create or replace function instance.set_needs(p_setup text, p_jobs jsonb) returns bigint
language plpgsql
security definer set search_path = instance, pg_temp
as $$
declare
  v_ids bigint[];
  v_jobs instance.job[];
  v_wrong record;
  v_said jsonb;
begin
  perform instance.identify_submitter(p_setup);
  perform resource.require_known_setup(p_setup);
  perform instance.refuse_needs(p_jobs, '{id,cpu,ram,instance_type,inputs}');
  v_ids := array(select (e.job ->> 'id')::bigint from jsonb_array_elements(p_jobs) e (job));
  v_jobs := array(select l from instance.locked_jobs(p_setup, v_ids) l);
  select x.job_id, x.is_it into v_wrong
    from (select u as job_id, null as is_it
            from (select u from unnest(v_ids) u except select j.job_id from unnest(v_jobs) j) m (u)
          union all
          select j.job_id, coalesce('job ' || j.taskqueue_job_id || ' of TaskQueues', j.state) from unnest(v_jobs) j
           where j.state not in ('waiting', 'unschedulable') or j.taskqueue_job_id is not null) x
   order by x.job_id limit 1;
  if v_wrong.job_id is not null and v_wrong.is_it is null then
    raise exception 'there is no job %', v_wrong.job_id
      using errcode = 'PB004', hint = 'monitor.instance_job has those that are there.';
  elsif v_wrong.job_id is not null then
    raise exception 'job % is %', v_wrong.job_id, v_wrong.is_it
      using errcode = 'PB005',
            hint = 'What a job needs changes only while it waits; what one of TaskQueues needs stands there.';
  end if;
  for v_said in select e.job from jsonb_array_elements(p_jobs) e (job) loop
    update instance.job j
       set cpu = case
         when v_said ? 'cpu' then case jsonb_typeof(v_said -> 'cpu') when 'number' then (v_said ->> 'cpu')::numeric end
         else j.cpu end,
           cpu_expression = case
             when v_said ? 'cpu' then case jsonb_typeof(v_said -> 'cpu') when 'string' then v_said ->> 'cpu' end
             else j.cpu_expression end,
           ram = case when v_said ? 'ram'
                      then case jsonb_typeof(v_said -> 'ram') when 'number' then (v_said ->> 'ram')::numeric end
                      else j.ram end,
           ram_expression = case
             when v_said ? 'ram' then case jsonb_typeof(v_said -> 'ram') when 'string' then v_said ->> 'ram' end
             else j.ram_expression end,
           instance_type = case when v_said ? 'instance_type' then v_said ->> 'instance_type' else j.instance_type end,
           inputs = j.inputs || coalesce(v_said -> 'inputs', '{}'), state = 'waiting', reason = null
     where j.setup = p_setup and j.job_id = (v_said ->> 'id')::bigint;
  end loop;
  perform instance.resolve_needs(p_setup, v_ids);
  return cardinality(v_ids);
end $$;

comment on function instance.set_needs(text, jsonb) is
  'Says more of jobs that are on no instance, and returns how many: [{"id": 7, "inputs": {"size": 2048}}], or cpu, '
  'ram, instance_type as instance.add_jobs has them; what is left out stays, inputs are added. '
  'Jobs that were unschedulable wait again. Errors: PB001 (an element is wrong), PB002 (setup not granted, '
  'or for one owner alone), PB004 (no such job), PB005 (the job is placed, has ended, or is of TaskQueues).';
