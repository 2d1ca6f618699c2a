create or replace function instance.add_jobs(p_setup text, p_jobs jsonb) returns bigint[]
language plpgsql
security definer set search_path = instance, pg_temp
as $$
declare
  v_ids bigint[];
  v_stored bigint[];
begin
  perform instance.identify_submitter(p_setup);
  perform instance.refuse_needs(p_jobs, '{id,task,cpu,ram,instance_type,inputs}');
  perform resource.require_setup(p_setup);
  v_ids := array(select coalesce((e.job ->> 'id')::bigint, nextval('instance.job_id'))
                   from jsonb_array_elements(p_jobs) with ordinality e (job, place)
                  order by e.place);
  with stored as (
    insert into instance.job as j (setup, job_id, task_id, cpu, cpu_expression, ram, ram_expression,
                                   instance_type, inputs)
    select p_setup, v_ids[e.place], (e.job ->> 'task')::bigint,
           case jsonb_typeof(e.job -> 'cpu') when 'number' then (e.job ->> 'cpu')::numeric end,
           case jsonb_typeof(e.job -> 'cpu') when 'string' then e.job ->> 'cpu' end,
           case jsonb_typeof(e.job -> 'ram') when 'number' then (e.job ->> 'ram')::numeric end,
           case jsonb_typeof(e.job -> 'ram') when 'string' then e.job ->> 'ram' end,
           e.job ->> 'instance_type', coalesce(e.job -> 'inputs', '{}')
      from jsonb_array_elements(p_jobs) with ordinality e (job, place)
     order by v_ids[e.place]
    on conflict do nothing
    returning j.job_id
  )
  select array_agg(s.job_id) into v_stored from stored s;
  if cardinality(v_ids) <> coalesce(cardinality(v_stored), 0) then
    raise exception 'job % is there already',
      (select min(i) from unnest(v_ids) i where i <> all (coalesce(v_stored, '{}')))
      using errcode = 'PB005', hint = 'A job is added once; instance.set_needs says more of one that waits.';
  end if;
  perform instance.reserve_ids(p_setup);
  perform instance.resolve_needs(p_setup, v_ids);
  return v_ids;
end $$;

comment on function instance.add_jobs(text, jsonb) is
  'Adds jobs to be packed onto instances and returns their ids in the order given: [{"id": 7, "task": 1, "cpu": 2, '
  '"ram": "2 * size", "instance_type": "m5.large", "inputs": {"size": 2048}}], all keys optional. cpu is cores, '
  'ram MB: a number, a text (see instance.evaluate), or not known yet (instance.set_needs). '
  'They wait until instance.schedule. Errors: PB001 (an element is wrong), PB002 (setup not granted, '
  'or for one owner alone), PB005 (the job is there).';
