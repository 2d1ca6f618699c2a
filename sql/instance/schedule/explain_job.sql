-- For a job that waits: each instance that it could go to by its task, with what is short, and what a new one would
-- be. For one that is placed, why there.
create or replace function instance.explain_job(p_setup text, p_job_id bigint)
returns table (instance_id bigint, type text, verdict text, reason text)
language plpgsql stable
security definer set search_path = instance, pg_temp
as $$
declare
  v_job instance.job;
  v_type resource.instance_type;
  v_most bigint;
  v_limit text;
begin
  perform resource.require_known_setup(p_setup);
  select j.* into v_job from instance.job j where j.setup = p_setup and j.job_id = p_job_id;
  if not found then
    raise exception 'there is no job %', p_job_id
      using errcode = 'PB004',
            hint = coalesce((select format('Job %s of TaskQueues is job %s here.', p_job_id, j.job_id)
                               from instance.job j
                              where j.setup = p_setup and j.taskqueue_job_id = p_job_id),
                            'monitor.instance_job has those that are there.');
  end if;
  if v_job.state not in ('waiting', 'unschedulable') then
    return query
    select v_job.instance_id, i.type, v_job.state, v_job.reason
      from (values (1)) x left join instance.instance i on i.setup = p_setup and i.instance_id = v_job.instance_id;
    return;
  end if;
  if v_job.cpu is null or v_job.ram is null then
    return query
    select null::bigint, null::text, v_job.state,
           concat_ws('; ', case when v_job.cpu is null
                                then 'cpu is not known'
                                     || coalesce(': ' || v_job.cpu_expression || ' of ' || v_job.inputs, '') end,
                     case when v_job.ram is null
                          then 'ram is not known'
                               || coalesce(': ' || v_job.ram_expression || ' of ' || v_job.inputs, '') end);
    return;
  end if;
  v_type := instance.required_type(p_setup, v_job.cpu, v_job.ram, v_job.instance_type);
  select a.most, a.reason into v_most, v_limit from instance.allowed(p_setup, v_job.task_id) a;
  return query
  select l.instance_id, l.type,
         case when l.short is not null then 'does not suit'
              when row_number() over (partition by l.short is null order by l.free_cpu, l.free_ram, l.instance_id) = 1
              then 'first that suits'
              else 'suits' end,
         coalesce(l.short, format('%s cores and %s MB are free', trim_scale(l.free_cpu), trim_scale(l.free_ram)))
    from (select i.instance_id, i.type, i.cpu - i.used_cpu as free_cpu, i.ram - i.used_ram as free_ram,
                 nullif(concat_ws(', ', case when v_job.instance_type <> i.type
                                             then format('its type is not %s', v_job.instance_type) end,
                                  case when i.cpu - i.used_cpu < v_job.cpu
                                       then format('it needs %s cores, %s are free', trim_scale(v_job.cpu),
                                                   trim_scale(i.cpu - i.used_cpu)) end,
                                  case when i.ram - i.used_ram < v_job.ram
                                       then format('it needs %s MB, %s are free', trim_scale(v_job.ram),
                                                   trim_scale(i.ram - i.used_ram)) end),
                        '') as short
            from (select o.* from instance.live_instances(p_setup, v_job.task_id, v_job.queue) o
                  union all
                  select a.*
                    from instance.live_instances(p_setup, null, v_job.queue) a
                   where v_job.task_id is not null) i
           where i.cpu is not null) l
   order by l.free_cpu, l.free_ram, l.instance_id;
  return query
  select null::bigint, v_type.name,
         case when v_type.name is null then 'unschedulable'
              when v_limit is not null then 'over the limit'
              else 'new instance' end,
         case when v_type.name is null
              then instance.refusal(p_setup, p_job_id, v_job.cpu, v_job.ram, v_job.instance_type)
              else coalesce(v_limit, format('%s at %s an hour has %s cores and %s MB',
                                            case when v_job.instance_type is null then 'the cheapest type that fits'
                                                 else 'the type that it names' end,
                                                     trim_scale(v_type.price), trim_scale(v_type.cpu),
                                            trim_scale(v_type.ram))) end;
end $$;

comment on function instance.explain_job(text, bigint) is
  'Why a job is on its instance, or why not: for a job that waits each instance of its task (and queue) in the order '
  'in which they are looked at, with what is short, and last the new one that it would get. '
  'Errors: PB001 (no such setup), PB004 (no such job).';
