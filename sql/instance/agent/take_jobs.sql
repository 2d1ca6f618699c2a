-- PACKING.md, Agents of instances. A job for free space is placed in the transaction that leases it, under the lock of
-- the schedule, so that no schedule fills that space.
create or replace function instance.take_jobs(
  p_setup text, p_instance_id bigint, p_limit int, p_resource jsonb, p_spare boolean
) returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_instance instance.instance;
  v_resource jsonb;
  v_id bigint;
  v_got int := 0;
  v_task bigint;
  v_cpu numeric;
  v_ram numeric;
begin
  if p_spare then
    perform instance.lock_schedule(p_setup);
  end if;
  select i.* into v_instance from instance.instance i where i.setup = p_setup and i.instance_id = p_instance_id;
  if v_instance.state is null or v_instance.state = 'released' then
    raise exception '%',
      case when v_instance.state is null then format('there is no instance %s', coalesce(p_instance_id::text, 'null'))
           else format('instance %s is released', p_instance_id) end
      using errcode = 'PB004', hint = 'Its agent can stop.';
  end if;
  if v_instance.state = 'requested' then
    perform instance.start_instances(p_setup, array[p_instance_id]);
  end if;
  perform taskqueue.enter_setup(p_setup);  -- before a row is locked
  -- a call that loses or releases the instance waits until the leases of this one are committed
  perform from instance.instance i
    where i.setup = p_setup and i.instance_id = p_instance_id and i.state <> 'released'
      for key share;
  if not found then
    raise exception 'instance % is released', p_instance_id using errcode = 'PB004', hint = 'Its agent can stop.';
  end if;
  v_resource := '{"CPUTime": 1000000000}' || p_resource
                || jsonb_strip_nulls(jsonb_build_object(
                  'Site', v_instance.queue, 'MaxRAM', v_instance.ram,
                  'NumberOfProcessors', case when v_instance.cpu > 1024 then 1024 else floor(v_instance.cpu) end));
  for v_id in
    select s.job_id from instance.step s
     cross join lateral taskqueue.fate_of(p_setup, s.job_id) f
     where s.setup = p_setup and s.instance_id = p_instance_id and s.state = 'placed' and f.waits
     order by 1
  loop
    exit when v_got >= p_limit;
    return query select * from taskqueue.match_jobs(p_setup, v_resource || jsonb_build_object('JobID', v_id), 1);
    v_got := v_got + found::int;
  end loop;
  if not p_spare then
    return;
  end if;
  perform instance.end_left_steps(p_setup, p_instance_id);
  while v_got < p_limit loop
    select i.cpu - i.used_cpu, i.ram - i.used_ram
      into v_cpu, v_ram
      from instance.instance i
     where i.setup = p_setup and i.instance_id = p_instance_id;
    exit when (v_cpu >= 1 and v_ram >= 0) is not true;  -- also if the size of the instance is not known
    select m.* into job_id, task_queue_id, requirements, user_priority, attempt
      from taskqueue.match_jobs(
        p_setup,
        v_resource || jsonb_strip_nulls(jsonb_build_object('NumberOfProcessors', least(floor(v_cpu), 1024),
                                                           'MaxRAM', v_ram)), 1) m;
    exit when job_id is null;
    v_got := v_got + 1;
    return next;
    v_cpu := instance.cores_of(array(select t from jsonb_array_elements_text(requirements -> 'Tags') t));
    v_ram := coalesce((requirements ->> 'MinRAM')::numeric, 0);
    v_task := (select w.task_id from workload.job w where w.setup = p_setup and w.job_id = take_jobs.job_id);
    perform instance.leave_instances(p_setup, array(
      select s.step_id from instance.step s where s.setup = p_setup and s.job_id = take_jobs.job_id),
                                     '{placed}', 'waiting', 'the agent of another instance matched it', true);
    insert into instance.step (setup, step_id, task_id, queue, job_id, cpu, ram, state,
                                   instance_id, placed_at, reason)
    values (p_setup, nextval('instance.step_id'), v_task, v_instance.queue, take_jobs.job_id, v_cpu, v_ram, 'placed',
            p_instance_id, resource.clock(p_setup), 'its agent matched it')
    on conflict (setup, job_id) where job_id is not null
    do update
       set task_id = excluded.task_id, queue = excluded.queue, cpu = excluded.cpu, ram = excluded.ram, state = 'placed',
           instance_id = excluded.instance_id,
           placed_at = excluded.placed_at, ended_at = null, reason = excluded.reason;
    update instance.instance i
       set used_cpu = i.used_cpu + v_cpu, used_ram = i.used_ram + v_ram
     where i.setup = p_setup and i.instance_id = p_instance_id;
  end loop;
end $$;

comment on function instance.take_jobs(text, bigint, int, jsonb, boolean) is
  'Takes the jobs that instance.match_jobs returns, without the check for a repeated request. Errors: PB001 '
  '(description), PB004 (the instance does not exist or is released).';
