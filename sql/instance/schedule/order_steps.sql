-- PACKING.md, Order of steps: the first phase. Steps with the same price, needs and hint are adjacent in the order and
-- form a run.
create or replace function instance.order_steps(
  p_setup text, p_task_id bigint, p_queue text, out steps bigint[], out price numeric[], out cpu numeric[],
  out ram numeric[], out hint text[], out type text[], out count int[], out place int[]
)
language plpgsql stable as $$
declare
  v_cheapest_first boolean := coalesce(
    (select s.first = 'cheapest' from instance.setting s where s.setup = p_setup), false);
begin
  with shape as materialized (
    select d.cpu, d.ram, d.instance_type, d.steps, (d.t).price as price, (d.t).name as type
      from (select g.*, instance.required_type(p_setup, g.cpu, g.ram, g.instance_type) as t
              from (select s.cpu, s.ram, s.instance_type, array_agg(s.step_id) as steps
                      from instance.unplaced_steps(p_setup, p_task_id, p_queue) s
                     where s.cpu is not null and s.ram is not null
                       and (s.job_id is null or not (select f.is_leased from taskqueue.fate_of(p_setup, s.job_id) f))
                     group by s.cpu, s.ram, s.instance_type) g
            offset 0) d
     where (d.t).name is not null
  ), ordered as materialized (
    select u.step_id, s.cpu, s.ram, s.instance_type, s.type, s.price,
           row_number() over (order by case when v_cheapest_first then s.price else - s.price end, s.cpu desc,
                                       s.ram desc, u.step_id) as place
      from shape s cross join lateral unnest(s.steps) u (step_id)
  ), cut as (
    select o.*, sum(o.begins::int) over (order by o.place) as run
      from (select i.*,
                   (i.price, i.cpu, i.ram) is distinct from (lag(i.price) over w, lag(i.cpu) over w, lag(i.ram) over w)
                   or i.instance_type is distinct from lag(i.instance_type) over w as begins
              from ordered i window w as (order by i.place)) o
  ), run as (
    select c.run, min(c.price) as price, min(c.cpu) as cpu, min(c.ram) as ram, min(c.instance_type) as hint,
           min(c.type) as type, count(*)::int as count, min(c.place)::int as place
      from cut c
     group by c.run
  )
  select (select array_agg(o.step_id order by o.place) from ordered o), array_agg(r.price order by r.run),
         array_agg(r.cpu order by r.run), array_agg(r.ram order by r.run), array_agg(r.hint order by r.run),
         array_agg(r.type order by r.run), array_agg(r.count order by r.run), array_agg(r.place order by r.run)
    into steps, price, cpu, ram, hint, type, count, place
    from run r;
end $$;

comment on function instance.order_steps(text, bigint, text) is
  'Orders the unplaced steps of a task whose needs are known and that some type can take, except those whose jobs '
  'other agents have. steps has their ids in order. Each run of equal steps has its price, cpu, ram, hint and type, '
  'the number of its steps (count), and the place of its first step in the order. The result is null if there are no '
  'such steps.';
