create or replace view monitor.instance as
select i.setup, i.instance_id, i.task_id, i.queue, i.type, i.state, u.steps, i.used_cpu, i.cpu,
       i.cpu - i.used_cpu as free_cpu, i.used_ram, i.ram, i.ram - i.used_ram as free_ram,
       i.price, i.requested_at, i.started_at, i.released_at,
       i.price * extract(epoch from coalesce(i.released_at, t.now) - i.requested_at) / 3600 as cost
  from instance.instance i
  join resource.setup_time t on t.setup = i.setup
  join instance.instance_use u on u.setup = i.setup and u.instance_id = i.instance_id
 where (i.setup = (select resource.bound_setup())) is not false;

comment on view monitor.instance is 'Rented machines: the use of each, and its cost.';
comment on column monitor.instance.steps is 'Steps that are placed on the instance.';
comment on column monitor.instance.cpu is 'Cores that the instance has.';
comment on column monitor.instance.free_cpu is 'Cores that are free.';
comment on column monitor.instance.ram is 'Memory that the instance has (MB).';
comment on column monitor.instance.free_ram is 'Memory that is free (MB).';
comment on column monitor.instance.price is 'Price per hour.';
comment on column monitor.instance.cost is
  'Cost since the instance was requested; null = the time of the request is not known.';
