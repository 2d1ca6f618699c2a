-- PACKING.md, Schedule: each phase is a function; instance.release_empty is the fourth.
create or replace function instance.packing(p_setup text, p_task_id bigint, p_queue text, p_limit bigint default null)
returns table (step_id bigint, cpu numeric, ram numeric, instance_id bigint, number int, type text, free_cpu numeric,
               free_ram numeric)
language plpgsql stable
set jit = off set enable_seqscan = off set enable_material = off
as $$
declare
  v_order record;
  v_fit record;
  v_new record;
begin
  select o.* into v_order from instance.order_steps(p_setup, p_task_id, p_queue) o;
  if v_order.steps is null then
    return;
  end if;
  select f.* into v_fit
    from instance.fit_steps(p_setup, p_task_id, p_queue, v_order.cpu, v_order.ram, v_order.hint, v_order.count,
                            v_order.place) f;
  select n.* into v_new
    from instance.fill_instances(p_setup, p_limit, v_order.price, v_order.cpu, v_order.ram, v_order.hint, v_order.type,
                                 v_fit.p_count, v_fit.p_place) n;
  return query
  with step as materialized (
    select u.step_id, u.place from unnest(v_order.steps) with ordinality u (step_id, place)
  ), instance as materialized (  -- a subscript of a long array of texts reads all texts before it
    select i.instance_id, i.type, i.at, 0 as number
      from unnest(v_fit.instances, v_fit.types) with ordinality i (instance_id, type, at)
    union all
    select null, i.type, - i.number, i.number from unnest(v_new.types) with ordinality i (type, number)
  ), placed as materialized (
    select f.at, f.place + g.g as place, f.cpu, f.ram, g.g
      from (select * from unnest(v_fit.at, v_fit.place, v_fit.count, v_fit.free_cpu, v_fit.free_ram)
             union all
            select - n.at, n.place, n.count, n.cpu, n.ram
              from unnest(v_new.at, v_new.place, v_new.count, v_new.free_cpu, v_new.free_ram)
                   n (at, place, count, cpu, ram)) f (at, place, count, cpu, ram)
     cross join generate_series(0, f.count - 1) g (g)
  )
  select b.step_id, s.cpu, s.ram, i.instance_id, i.number::int, i.type, p.cpu - p.g * s.cpu, p.ram - p.g * s.ram
    from placed p
    join instance i on i.at = p.at
    join step b on b.place = p.place
    join instance.step s on s.setup = p_setup and s.step_id = b.step_id
   order by p.place;
end $$;

comment on function instance.packing(text, bigint, text, bigint) is
  'The places that instance.schedule would now give the steps of a task (null means steps of no task) at a queue of '
  'kind cloud (null means at none), in their order. A place is an existing instance (instance_id) or one of at most '
  'p_limit new ones (number, from 1, and type). Each row has the needs of the step and the space that is free there '
  'before. Steps that wait for needs, limits or a type that fits are left out.';
