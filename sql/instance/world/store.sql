-- Cores, memory and price of an instance come from its type unless they are given; its used cores and memory come from
-- its steps. Expressions whose inputs are known are evaluated.
create or replace function instance.store(
  p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false
) returns bigint
language plpgsql security definer set search_path = instance, pg_temp as $$
declare
  v_stored bigint;
  v_wrong record;
begin
  perform resource.identify(p_setup);
  perform instance.lock_schedule(p_setup);
  v_stored := resource.store_rows(p_setup, instance.world_table(p_table), p_rows, p_parents, p_merge);
  if p_table = 'step' then
    select s.step_id, s.queue, s.job_id, s.state into v_wrong
      from instance.step s
     where s.setup = p_setup
       and (s.queue is not null and s.job_id is null or s.state = 'placed' and s.instance_id is null)
     order by s.step_id limit 1;
    if found and v_wrong.state = 'placed' and v_wrong.queue is null then
      raise exception 'step % is placed but has no instance', v_wrong.step_id
        using errcode = 'PB001', hint = 'Name its instance, or give the state waiting.';
    elsif found then
      raise exception 'step % is at queue %, but represents no job', v_wrong.step_id, v_wrong.queue
        using errcode = 'PB001',
              hint = 'Give the job of a step that has a queue; instance.schedule adds these steps itself.';
    end if;
  end if;
  perform instance.reserve_ids(p_setup);
  if p_table = 'instance' then
    update instance.instance i
       set cpu = coalesce(i.cpu, t.cpu), ram = coalesce(i.ram, t.ram), price = coalesce(i.price, t.price)
      from resource.instance_type t
     where i.setup = p_setup and (i.cpu is null or i.ram is null or i.price is null) and t.setup = p_setup
       and t.name = i.type;
  else
    perform instance.resolve_needs(p_setup, array(
      select s.step_id from instance.step s
       where s.setup = p_setup and coalesce(s.cpu_expression, s.ram_expression) is not null
         and (s.state in ('waiting', 'unschedulable') or s.cpu is null or s.ram is null)));
  end if;
  select i.instance_id, i.cpu, i.ram, u.cpu as used_cpu, u.ram as used_ram into v_wrong
    from instance.instance_use u join instance.instance i on i.setup = p_setup and i.instance_id = u.instance_id
   where u.setup = p_setup and (u.cpu > i.cpu or u.ram > i.ram)
   order by i.instance_id limit 1;
  if found then
    raise exception 'instance % has % cores and % MB, but its steps use % cores and % MB', v_wrong.instance_id,
      trim_scale(v_wrong.cpu), trim_scale(v_wrong.ram), trim_scale(v_wrong.used_cpu),
      trim_scale(v_wrong.used_ram)
      using errcode = 'PB001', hint = 'The steps that are placed on an instance must fit on it together.';
  end if;
  update instance.instance i set used_cpu = x.cpu, used_ram = x.ram
    from (select u.instance_id, u.cpu, u.ram from instance.instance_use u where u.setup = p_setup) x
   where i.setup = p_setup and i.instance_id = x.instance_id
     and (i.used_cpu, i.used_ram) is distinct from (x.cpu, x.ram);
  return v_stored;
end $$;

comment on function instance.store(text, text, jsonb, jsonb, boolean) is
  'Upserts an array of objects into a table of the schema instance, and returns the number of rows stored. Keys are '
  'columns. A key that is left out gets the default of the column; with p_merge it keeps its value in an existing row. '
  'A null value is stored as null. The rows of p_parents (values of the first key column, or objects with that and '
  'other columns; true = all rows) are deleted first. Errors: PB001 (a row is wrong, or the steps of an instance do '
  'not fit on it), PB002 (setup not granted).';
