-- after: instance.packing
-- after: instance.refusal
-- after: instance.allowed
-- Seed 002, schedule(), for one task, written down. instance.packing decides by what it sees; jobs that others have in hand by now (they end, or learn other needs) are
-- left for the next time. Rows are locked jobs first, then instances, each by id, as by all other calls.
create or replace function instance.schedule_task(p_setup text, p_task_id bigint, out placed bigint, out requested bigint, out released bigint, out waiting bigint, out unschedulable bigint)
language plpgsql
security definer set search_path = instance, pg_temp
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_allowed record;
  v_ids bigint[];
  v_empty bigint;
  v_job bigint[]; v_cpu numeric[]; v_ram numeric[]; v_instance bigint[]; v_type text[]; v_reason text[]; v_new bigint[];
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform resource.require_read_committed();
  perform instance.lock_schedule(p_setup);
  placed := 0;
  requested := 0;
  released := 0;
  loop
    v_allowed := instance.allowed(p_setup, p_task_id);
    with plan as materialized (
      select k.* from instance.packing(p_setup, p_task_id, v_allowed.most) k
    ), new as materialized (
      select n.number, nextval('instance.instance_id') as instance_id from (select distinct p.number from plan p where p.number > 0 order by p.number) n
    )
    select array_agg(p.job_id), array_agg(p.cpu), array_agg(p.ram), array_agg(coalesce(p.instance_id, n.instance_id)), array_agg(p.type),
           array_agg(case when p.number = 0
                          then format('the first that suits of the instances by what is free: %s cores and %s MB were', trim_scale(p.free_cpu), trim_scale(p.free_ram))
                          else format('no instance suited: a new one of type %s; %s cores and %s MB of it were free', p.type, trim_scale(p.free_cpu), trim_scale(p.free_ram)) end),
           array(select i.instance_id from new i)
      into v_job, v_cpu, v_ram, v_instance, v_type, v_reason, v_new
      from plan p left join new n on n.number = p.number;
    v_ids := array(
      select j.job_id
        from unnest(v_job, v_cpu, v_ram, v_type) p (job_id, cpu, ram, type)
        join instance.job j on j.setup = p_setup and j.job_id = p.job_id
       where j.state in ('waiting', 'unschedulable') and j.cpu = p.cpu and j.ram = p.ram and (j.instance_type is null or j.instance_type = p.type)
         for update of j skip locked);
    insert into instance.instance (setup, instance_id, type, task_id, state, cpu, ram, price, requested_at)
    select p_setup, n.instance_id, t.name, p_task_id, 'requested', t.cpu, t.ram, t.price, v_now
      from (select u.instance_id, min(u.type) as type from unnest(v_instance, v_type, v_job) u (instance_id, type, job_id)
             where u.instance_id = any (v_new) and u.job_id = any (v_ids) group by u.instance_id) n
      join resource.instance_type t on t.setup = p_setup and t.name = n.type;
    get diagnostics v_empty = row_count;
    requested := requested + v_empty;
    perform from instance.instance i where i.setup = p_setup and i.instance_id in (select u.instance_id from unnest(v_instance) u (instance_id)) order by i.instance_id for update;
    update instance.instance i set used_cpu = i.used_cpu + u.cpu, used_ram = i.used_ram + u.ram
      from (select p.instance_id, sum(p.cpu) as cpu, sum(p.ram) as ram
              from unnest(v_job, v_cpu, v_ram, v_instance) p (job_id, cpu, ram, instance_id) where p.job_id = any (v_ids) group by p.instance_id) u
     where i.setup = p_setup and i.instance_id = u.instance_id;
    update instance.job j set state = 'placed', instance_id = p.instance_id, placed_at = v_now, reason = p.reason
      from unnest(v_job, v_instance, v_reason) p (job_id, instance_id, reason)
     where j.setup = p_setup and j.job_id = p.job_id and j.job_id = any (v_ids);
    placed := placed + cardinality(v_ids);
    v_empty := instance.release_empty(p_setup, p_task_id);
    released := released + v_empty;
    exit when v_empty = 0 or v_allowed.most is null;  -- what was released may leave room within the limit
  end loop;
  v_allowed := instance.allowed(p_setup, p_task_id);
  with shape as materialized (
    select s.*, s.cpu is null or s.ram is null or (instance.required_type(p_setup, s.cpu, s.ram, s.instance_type)).name is not null as fits
      from (select distinct j.cpu, j.ram, j.instance_type
              from instance.job j where j.setup = p_setup and j.task_id is not distinct from p_task_id and j.state in ('waiting', 'unschedulable')) s
  ), left_over as materialized (
    select j.job_id, case when s.fits then 'waiting' else 'unschedulable' end as state,
           case when not s.fits then instance.refusal(p_setup, j.job_id, j.cpu, j.ram, j.instance_type)
                when j.cpu is null or j.ram is null then format('its needs are not known: %s', concat_ws(', ', case when j.cpu is null then 'cpu' end, case when j.ram is null then 'ram' end))
                else coalesce(v_allowed.reason, 'somebody else changed it just then') end as reason
      from instance.job j
      join shape s on s.cpu is not distinct from j.cpu and s.ram is not distinct from j.ram and s.instance_type is not distinct from j.instance_type
     where j.setup = p_setup and j.task_id is not distinct from p_task_id and j.state in ('waiting', 'unschedulable')
  ), changed as materialized (
    select l.* from left_over l join instance.job j on j.setup = p_setup and j.job_id = l.job_id
     where j.state in ('waiting', 'unschedulable') and (j.state, j.reason) is distinct from (l.state, l.reason)
       for update of j skip locked
  ), told as (
    update instance.job j set state = c.state, reason = c.reason from changed c where j.setup = p_setup and j.job_id = c.job_id
  )
  select count(*) filter (where l.state = 'waiting'), count(*) filter (where l.state = 'unschedulable') into waiting, unschedulable from left_over l;
end $$;

comment on function instance.schedule_task(text, bigint) is
'Places the waiting jobs of a task (null = jobs of none) as the seed does: on instances that are there, then on new ones as limits allow; jobs that no type can take become unschedulable, with the reason; instances without jobs are released. Says how many of each. Works within the caller''s transaction; one at a time in a setup. Errors: PB001 (no such setup), PB002 (setup not granted).';
