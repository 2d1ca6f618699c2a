-- PACKING.md, Schedule. instance.packing decides from its snapshot. Steps that another transaction has locked or
-- changed since then are left for the next schedule, and so are steps for a type that was removed since then. The steps
-- are locked first, then the instances, each in the order of their ids, as in every other call.
create or replace function instance.schedule_task(
  p_setup text, p_task_id bigint, p_queue text default null, out placed bigint, out requested bigint,
  out released bigint, out waiting bigint, out unschedulable bigint
)
language plpgsql
security definer set search_path = instance, pg_temp set jit = off set enable_seqscan = off set enable_material = off
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_most bigint;
  v_limit text;
  v_empty bigint;
  v_placed bigint;
  v_step bigint[]; v_cpu numeric[]; v_ram numeric[]; v_instance bigint[]; v_type text[]; v_reason text[];
  v_new bigint[];
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform resource.require_read_committed();
  perform instance.lock_schedule(p_setup);
  perform instance.skip_lost_ids();
  placed := 0;
  requested := 0;
  released := 0;
  loop
    select a.most, a.reason into v_most, v_limit from instance.allowed(p_setup, p_task_id) a;
    with plan as materialized (
      select k.* from instance.packing(p_setup, p_task_id, p_queue, v_most) k
    ), new as materialized (
      select n.number, nextval('instance.instance_id') as instance_id
        from (select distinct p.number from plan p where p.number > 0 order by p.number) n
    )
    select array_agg(p.step_id), array_agg(p.cpu), array_agg(p.ram), array_agg(coalesce(p.instance_id, n.instance_id)),
           array_agg(p.type),
           array_agg(case when p.number = 0
                          then format('the first instance that suited, by free space: %s cores and %s MB were free',
                                      trim_scale(p.free_cpu), trim_scale(p.free_ram))
                          else format('no instance suited: a new one of type %s; %s cores and %s MB of it were free',
                                      p.type, trim_scale(p.free_cpu), trim_scale(p.free_ram)) end),
           array(select i.instance_id from new i)
      into v_step, v_cpu, v_ram, v_instance, v_type, v_reason, v_new
      from plan p left join new n on n.number = p.number;
    select array_agg(x.step_id), array_agg(x.cpu), array_agg(x.ram), array_agg(x.instance_id), array_agg(x.type),
           array_agg(x.reason)
      into v_step, v_cpu, v_ram, v_instance, v_type, v_reason
      from (select p.*
              from unnest(v_step, v_cpu, v_ram, v_instance, v_type,
                          v_reason) p (step_id, cpu, ram, instance_id, type, reason)
              join instance.step s on s.setup = p_setup and s.step_id = p.step_id
             where s.state in ('waiting', 'unschedulable') and s.cpu = p.cpu and s.ram = p.ram
               and (s.instance_type is null or s.instance_type = p.type)
               for update of s skip locked) x;
    with used as materialized (
      select u.instance_id, min(u.type) as type, sum(u.cpu) as cpu, sum(u.ram) as ram
        from unnest(v_instance, v_type, v_cpu, v_ram) u (instance_id, type, cpu, ram)
       group by u.instance_id
    ), new as (
      insert into instance.instance (setup, instance_id, type, task_id, queue, state, cpu, ram, price,
                                     requested_at, used_cpu, used_ram)
      select p_setup, u.instance_id, t.name, p_task_id, p_queue, 'requested', t.cpu, t.ram, t.price, v_now, u.cpu, u.ram
        from unnest(v_new) w (instance_id)
        join used u on u.instance_id = w.instance_id
        join resource.instance_type t on t.setup = p_setup and t.name = u.type
      returning 1
    ), locked as materialized (
      select i.instance_id from instance.instance i
        join used u on u.instance_id = i.instance_id
       where i.setup = p_setup
       order by i.instance_id
         for no key update of i
    ), filled as (
      update instance.instance i set used_cpu = i.used_cpu + u.cpu, used_ram = i.used_ram + u.ram
        from locked l join used u on u.instance_id = l.instance_id
       where i.setup = p_setup and i.instance_id = l.instance_id
    )
    select requested + count(*) into requested from new;
    update instance.step s set state = 'placed', instance_id = p.instance_id, placed_at = v_now, reason = p.reason
      from unnest(v_step, v_instance, v_reason) p (step_id, instance_id, reason)
     where s.setup = p_setup and s.step_id = p.step_id
       and exists (select from instance.instance i where i.setup = p_setup and i.instance_id = p.instance_id);
    get diagnostics v_placed = row_count;
    placed := placed + v_placed;
    v_empty := instance.release_empty(p_setup, p_task_id, p_queue);
    released := released + v_empty;
    exit when v_empty = 0 or v_most is null;  -- a released instance may leave space within the limit
  end loop;
  select a.most, a.reason into v_most, v_limit from instance.allowed(p_setup, p_task_id) a;
  select m.waiting, m.unschedulable
    into waiting, unschedulable
    from instance.mark_unplaced(p_setup, p_task_id, p_queue, v_limit) m;
end $$;

comment on function instance.schedule_task(text, bigint, text) is
  'Places the waiting steps of a task (null means steps of no task) at a queue of kind cloud (null means at none): '
  'first on existing instances, then on new ones as limits allow. Steps that no type can take become unschedulable, '
  'with a reason. Instances without steps are released. Returns how many of each. The call works within the caller''s '
  'transaction; only one runs at a time in a setup. Errors: PB001 (no such setup), PB002 (setup not granted).';
