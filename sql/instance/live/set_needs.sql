-- after: instance.refuse_needs
-- after: instance.resolve_needs
-- instance-scheduling.md: requirements may be unknown until the inputs are known.
create or replace function instance.set_needs(p_setup text, p_jobs jsonb) returns bigint
language plpgsql
security definer set search_path = instance, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan  -- each row by its key, however many they are
as $$
declare
  v_ids bigint[];
  v_wrong record;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform instance.refuse_needs(p_jobs, '{id,cpu,ram,instance_type,inputs}');
  v_ids := array(select (e.job ->> 'id')::bigint from jsonb_array_elements(p_jobs) e (job));
  perform from unnest(v_ids) u (job_id) join instance.job j on j.setup = p_setup and j.job_id = u.job_id order by j.job_id for update of j;
  select i.job_id, j.state, j.taskqueue_job_id into v_wrong
    from unnest(v_ids) i (job_id)
    left join instance.job j on j.setup = p_setup and j.job_id = i.job_id
   where (j.state in ('waiting', 'unschedulable') and j.taskqueue_job_id is null) is not true
   order by i.job_id limit 1;
  if v_wrong.job_id is not null and v_wrong.state is null then
    raise exception 'there is no job %', v_wrong.job_id using errcode = 'PB004', hint = 'monitor.instance_job has those that are there.';
  elsif v_wrong.job_id is not null then
    raise exception 'job % is %', v_wrong.job_id, coalesce('job ' || v_wrong.taskqueue_job_id || ' of TaskQueues', v_wrong.state)
      using errcode = 'PB005', hint = 'What a job needs changes only while it waits; what one of TaskQueues needs stands there.';
  end if;
  update instance.job j
     set cpu = case when e.job ? 'cpu' then case jsonb_typeof(e.job -> 'cpu') when 'number' then (e.job ->> 'cpu')::numeric end else j.cpu end,
         cpu_expression = case when e.job ? 'cpu' then case jsonb_typeof(e.job -> 'cpu') when 'string' then e.job ->> 'cpu' end else j.cpu_expression end,
         ram = case when e.job ? 'ram' then case jsonb_typeof(e.job -> 'ram') when 'number' then (e.job ->> 'ram')::numeric end else j.ram end,
         ram_expression = case when e.job ? 'ram' then case jsonb_typeof(e.job -> 'ram') when 'string' then e.job ->> 'ram' end else j.ram_expression end,
         instance_type = case when e.job ? 'instance_type' then e.job ->> 'instance_type' else j.instance_type end,
         inputs = j.inputs || coalesce(e.job -> 'inputs', '{}'), state = 'waiting', reason = null
    from jsonb_array_elements(p_jobs) e (job)
   where j.setup = p_setup and j.job_id = (e.job ->> 'id')::bigint;
  perform instance.resolve_needs(p_setup, v_ids);
  return cardinality(v_ids);
end $$;

comment on function instance.set_needs(text, jsonb) is
'Says more of jobs that are on no instance, and returns how many: [{"id": 7, "inputs": {"size": 2048}}], or cpu, ram, instance_type as instance.add_jobs has them; what is left out stays, inputs are added. Jobs that were unschedulable wait again. Errors: PB001 (an element is wrong), PB002 (setup not granted), PB004 (no such job), PB005 (the job is placed, has ended, or is of TaskQueues).';
