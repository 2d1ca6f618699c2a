-- See PACKING.md, Explaining a placement. The lower bound is the minimum of a linear programme with two conditions. The
-- minimum is a mix of one or two types: one type that covers both sums, or two types that cover both sums exactly.
create or replace view monitor.instance_total as
with type as materialized (
  select t.setup, t.name, t.cpu::float8 as cpu, t.ram::float8 as ram, t.price::float8 as price
    from resource.instance_type t
)
select t.setup, t.task_id, t.queue, t.instances, t.steps, t.used_cpu, t.cpu,
       t.used_cpu / nullif(t.cpu, 0) as cpu_efficiency, t.used_ram, t.ram,
       t.used_ram / nullif(t.ram, 0) as ram_efficiency,
       t.price, b.lower_bound, t.price / nullif(b.lower_bound, 0) - 1 as gap
  from (select i.setup, i.task_id, i.queue, count(*) as instances, coalesce(sum(u.steps), 0)::bigint as steps,
               sum(i.used_cpu) as used_cpu, sum(i.cpu) as cpu, sum(i.used_ram) as used_ram,
               sum(i.ram) as ram, sum(i.price) as price
          from instance.instance i
          join instance.instance_use u on u.setup = i.setup and u.instance_id = i.instance_id
         where i.state <> 'released'
         group by i.setup, i.task_id, i.queue) t
 cross join lateral (
   select round(min(m.price)::numeric, 6) as lower_bound
     from (select a.price * greatest(t.used_cpu::float8 / a.cpu, t.used_ram::float8 / a.ram) as price
             from type a
            where a.setup = t.setup
           union all
           select x.a * a.price + x.b * b.price
             from type a
             join type b on b.setup = a.setup and a.name < b.name and a.cpu * b.ram <> b.cpu * a.ram
            cross join lateral (
              select (t.used_cpu::float8 * b.ram - t.used_ram::float8 * b.cpu) / (a.cpu * b.ram - b.cpu * a.ram) as a,
                     (a.cpu * t.used_ram::float8 - a.ram * t.used_cpu::float8) / (a.cpu * b.ram - b.cpu * a.ram) as b) x
            where a.setup = t.setup and x.a >= 0 and x.b >= 0) m) b
 where (t.setup = (select resource.bound_setup())) is not false;

comment on view monitor.instance_total is
  'Instances of each task and queue that are not released: their number, their use, their price per hour, and a lower '
  'bound of the price.';
comment on column monitor.instance_total.task_id is 'Task; null = instances that belong to no task.';
comment on column monitor.instance_total.queue is
  'PanDA queue of kind cloud whose jobs the instances take; null = none.';
comment on column monitor.instance_total.instances is 'Instances, requested or running.';
comment on column monitor.instance_total.steps is 'Steps that are placed on the instances.';
comment on column monitor.instance_total.used_cpu is 'Cores that these steps use.';
comment on column monitor.instance_total.cpu is 'Cores of the instances.';
comment on column monitor.instance_total.cpu_efficiency is 'Used fraction of the cores, 0 to 1.';
comment on column monitor.instance_total.used_ram is 'Memory that these steps use (MB).';
comment on column monitor.instance_total.ram is 'Memory of the instances (MB).';
comment on column monitor.instance_total.ram_efficiency is 'Used fraction of the memory, 0 to 1.';
comment on column monitor.instance_total.price is 'Price of the instances per hour.';
comment on column monitor.instance_total.lower_bound is
  'Price per hour of the cheapest mix of types, taken in fractions, that covers the use of the steps.';
comment on column monitor.instance_total.gap is
  'Difference between the price and the lower bound, as a fraction of the bound: 0.1 = 10 %.';
