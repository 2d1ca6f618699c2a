-- PACKING.md, Unknown needs.
create or replace function instance.set_needs(p_setup text, p_steps jsonb) returns bigint
language plpgsql security definer set search_path = instance, pg_temp as $$
declare
  v_ids bigint[];
  v_steps instance.step[];
  v_wrong record;
  v_change jsonb;
begin
  perform instance.identify_submitter(p_setup);
  perform resource.require_known_setup(p_setup);
  perform taskqueue.require_within(p_setup, 'batch_size', 'steps', taskqueue.json_size(p_steps));
  perform instance.refuse_needs(p_steps, '{id,cpu,ram,instance_type,inputs}');
  perform instance.refuse_large_steps(p_setup, p_steps);
  v_ids := array(select (e.step ->> 'id')::bigint from jsonb_array_elements(p_steps) e (step));
  v_steps := array(select l from instance.locked_steps(p_setup, v_ids) l);
  select x.step_id, x.is_it into v_wrong
    from (select u as step_id, null as is_it
            from (select u from unnest(v_ids) u except select s.step_id from unnest(v_steps) s) m (u)
          union all
          select s.step_id, coalesce('for job ' || s.job_id || ' of a TaskQueue', s.state) from unnest(v_steps) s
           where s.state not in ('waiting', 'unschedulable') or s.job_id is not null) x
   order by x.step_id limit 1;
  if v_wrong.step_id is not null and v_wrong.is_it is null then
    raise exception 'there is no step %', v_wrong.step_id
      using errcode = 'PB004', hint = 'monitor.instance_step lists the steps.';
  elsif v_wrong.step_id is not null then
    raise exception 'step % is %', v_wrong.step_id, v_wrong.is_it
      using errcode = 'PB005',
            hint = 'The needs of a step change only while it waits; those of a job of a TaskQueue follow from '
                   'its requirements.';
  end if;
  for v_change in select e.step from jsonb_array_elements(p_steps) e (step) loop
    update instance.step s
       set cpu = case
         when v_change ? 'cpu'
         then case jsonb_typeof(v_change -> 'cpu') when 'number' then (v_change ->> 'cpu')::numeric end
         else s.cpu end,
           cpu_expression = case
             when v_change ? 'cpu' then case jsonb_typeof(v_change -> 'cpu') when 'string' then v_change ->> 'cpu' end
             else s.cpu_expression end,
           ram = case
             when v_change ? 'ram'
             then case jsonb_typeof(v_change -> 'ram') when 'number' then (v_change ->> 'ram')::numeric end
             else s.ram end,
           ram_expression = case
             when v_change ? 'ram' then case jsonb_typeof(v_change -> 'ram') when 'string' then v_change ->> 'ram' end
             else s.ram_expression end,
           instance_type = case when v_change ? 'instance_type' then v_change ->> 'instance_type'
                                else s.instance_type end,
           inputs = s.inputs || coalesce(v_change -> 'inputs', '{}'), state = 'waiting', reason = null, fault = null
     where s.setup = p_setup and s.step_id = (v_change ->> 'id')::bigint;
  end loop;
  perform taskqueue.require_within(p_setup, 'requirements_size', format('inputs of step %s', s.step_id),
                                   taskqueue.json_size(s.inputs))
     from instance.step s where s.setup = p_setup and s.step_id = any (v_ids);
  perform instance.resolve_needs(p_setup, v_ids);
  return cardinality(v_ids);
end $$;

comment on function instance.set_needs(text, jsonb) is
  'Changes the needs of steps that are on no instance, and returns how many steps changed. An example: [{"id": 7, '
  '"inputs": {"size": 2048}}]; cpu, ram and instance_type are as in instance.add_steps. Keys that are left out keep '
  'their values; inputs are added. A step that was unschedulable waits again. Errors: PB001 (an element is wrong), '
  'PB002 (setup not granted, or only for one owner), PB004 (no such step), PB005 (the step is placed, has ended, or '
  'represents a job).';
