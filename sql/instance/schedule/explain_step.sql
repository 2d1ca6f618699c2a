-- PACKING.md, Explaining a placement.
create or replace function instance.explain_step(p_setup text, p_step_id bigint)
returns table (instance_id bigint, type text, verdict text, reason text)
language plpgsql stable security definer set search_path = instance, pg_temp as $$
declare
  v_step instance.step;
  v_type resource.instance_type;
  v_most bigint;
  v_limit text;
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_known_setup(p_setup);
  select s.* into v_step from instance.step s where s.setup = p_setup and s.step_id = p_step_id;
  if not found then
    raise exception 'there is no step %', p_step_id
      using errcode = 'PB004',
            hint = coalesce((select format('Step %2$s represents job %1$s of a TaskQueue.', p_step_id, s.step_id)
                               from instance.step s
                              where s.setup = p_setup and s.job_id = p_step_id),
                            'monitor.instance_step lists the steps.');
  end if;
  if v_step.state not in ('waiting', 'unschedulable') then
    return query
    select v_step.instance_id, i.type, v_step.state, v_step.reason
      from (values (1)) x left join instance.instance i on i.setup = p_setup and i.instance_id = v_step.instance_id;
    return;
  end if;
  if v_step.cpu is null or v_step.ram is null then
    return query
    select null::bigint, null::text, v_step.state,
           coalesce(v_step.fault,
                    concat_ws('; ',
                              case when v_step.cpu is null then 'cpu is not known' || coalesce(
                                ': ' || v_step.cpu_expression || ' of ' || v_step.inputs, '') end,
                              case when v_step.ram is null then 'ram is not known' || coalesce(
                                ': ' || v_step.ram_expression || ' of ' || v_step.inputs, '') end,
                              instance.missing_inputs(v_step)));
    return;
  end if;
  v_type := instance.required_type(p_setup, v_step.cpu, v_step.ram, v_step.instance_type);
  if v_type.name is not null and v_step.job_id is not null
     and (select f.is_leased from taskqueue.fate_of(p_setup, v_step.job_id) f) then
    return query select null::bigint, null::text, 'waiting', 'an agent of no instance has its job';
    return;
  end if;
  select a.most, a.reason into v_most, v_limit from instance.allowed(p_setup, v_step.task_id) a;
  return query
  select l.instance_id, l.type,
         case when l.short is not null then 'does not suit'
              when row_number() over (partition by l.short is null order by l.free_cpu, l.free_ram, l.instance_id) = 1
              then 'first that suits'
              else 'suits' end,
         coalesce(l.short, format('%s cores and %s MB are free', trim_scale(l.free_cpu), trim_scale(l.free_ram)))
    from (select i.instance_id, i.type, i.cpu - i.used_cpu as free_cpu, i.ram - i.used_ram as free_ram,
                 nullif(concat_ws(
                   ', ',
                   case when v_step.instance_type <> i.type then format('the type is not %s', v_step.instance_type) end,
                   case when i.cpu - i.used_cpu < v_step.cpu then format('it needs %s cores, %s are free',
                                                                        trim_scale(v_step.cpu),
                                                                        trim_scale(i.cpu - i.used_cpu)) end,
                   case when i.ram - i.used_ram < v_step.ram then format('it needs %s MB, %s are free',
                                                                        trim_scale(v_step.ram),
                                                                        trim_scale(i.ram - i.used_ram)) end),
                        '') as short
            from (select o.* from instance.live_instances(p_setup, v_step.task_id, v_step.queue) o
                  union all
                  select a.*
                    from instance.live_instances(p_setup, null, v_step.queue) a
                   where v_step.task_id is not null) i
           where i.cpu is not null) l
   order by l.free_cpu, l.free_ram, l.instance_id;
  return query
  select null::bigint, v_type.name,
         case when v_type.name is null then 'unschedulable'
              when v_limit is not null then 'over the limit'
              else 'new instance' end,
         case
           when v_type.name is null
           then instance.refusal(p_setup, p_step_id, v_step.cpu, v_step.ram, v_step.instance_type)
           else coalesce(v_limit, format('%s at %s an hour has %s cores and %s MB',
                                         case when v_step.instance_type is null then 'the cheapest type that fits'
                                              else 'the type that the step names' end,
                                         trim_scale(v_type.price), trim_scale(v_type.cpu), trim_scale(v_type.ram))) end;
end $$;

comment on function instance.explain_step(text, bigint) is
  'Explains why a step is on its instance, or why it waits. A waiting step has a row for each instance of its task '
  '(and queue) in the order of fitting, with the missing cores or memory, and a last row for the new instance that it '
  'would get. If an agent that runs on no instance has the job of the step, a single row says so. Errors: PB001 (no '
  'such setup), PB002 (setup not granted), PB004 (no such step).';
