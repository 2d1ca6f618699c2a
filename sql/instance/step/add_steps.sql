create or replace function instance.add_steps(p_setup text, p_steps jsonb) returns bigint[]
language plpgsql security definer set search_path = instance, pg_temp as $$
declare
  v_ids bigint[];
  v_stored bigint[];
begin
  perform instance.identify_submitter(p_setup);
  perform taskqueue.require_within(p_setup, 'batch_size', 'steps', taskqueue.json_size(p_steps));
  perform instance.refuse_needs(p_steps, '{id,task,cpu,ram,instance_type,inputs}');
  perform instance.refuse_large_steps(p_setup, p_steps);
  perform resource.require_setup(p_setup);
  perform instance.skip_lost_ids();
  v_ids := array(select coalesce((e.step ->> 'id')::bigint, nextval('instance.step_id'))
                   from jsonb_array_elements(p_steps) with ordinality e (step, place)
                  order by e.place);
  with stored as (
    insert into instance.step (setup, step_id, task_id, cpu, cpu_expression, ram, ram_expression,
                                   instance_type, inputs)
    select p_setup, v_ids[e.place], (e.step ->> 'task')::bigint,
           case jsonb_typeof(e.step -> 'cpu') when 'number' then (e.step ->> 'cpu')::numeric end,
           case jsonb_typeof(e.step -> 'cpu') when 'string' then e.step ->> 'cpu' end,
           case jsonb_typeof(e.step -> 'ram') when 'number' then (e.step ->> 'ram')::numeric end,
           case jsonb_typeof(e.step -> 'ram') when 'string' then e.step ->> 'ram' end,
           e.step ->> 'instance_type', coalesce(e.step -> 'inputs', '{}')
      from jsonb_array_elements(p_steps) with ordinality e (step, place)
     order by v_ids[e.place]
    on conflict do nothing
    returning step_id
  )
  select array_agg(s.step_id) into v_stored from stored s;
  if cardinality(v_ids) <> coalesce(cardinality(v_stored), 0) then
    raise exception 'step % already exists',
      (select min(i) from unnest(v_ids) i where i <> all (coalesce(v_stored, '{}')))
      using errcode = 'PB005', hint = 'A step is added once; instance.set_needs changes the needs of a waiting step.';
  end if;
  perform instance.reserve_ids(p_setup);
  perform instance.resolve_needs(p_setup, v_ids);
  return v_ids;
end $$;

comment on function instance.add_steps(text, jsonb) is
  'Adds steps to be packed onto instances and returns their ids in the given order. An example, in which all keys are '
  'optional: [{"id": 7, "task": 1, "cpu": 2, "ram": "2 * size", "instance_type": "m5.large", "inputs": {"size": '
  '2048}}]. cpu (cores) and ram (MB) are each a number, an expression as text (instance.evaluate), or left out until '
  'known (instance.set_needs). The steps wait until instance.schedule. Errors: PB001 (an element is wrong), PB002 '
  '(setup not granted, or only for one owner), PB005 (the step exists).';
