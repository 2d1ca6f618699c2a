create or replace view monitor.instance as
select i.setup, i.instance_id, i.task_id, i.queue, i.type, i.state, u.steps, i.used_cpu, i.cpu,
       i.cpu - i.used_cpu as free_cpu, i.used_ram, i.ram, i.ram - i.used_ram as free_ram,
       i.price, i.requested_at, i.started_at, i.released_at,
       i.price * extract(epoch from coalesce(i.released_at, t.now) - i.requested_at) / 3600 as cost
  from instance.instance i
  join resource.setup_time t on t.setup = i.setup
  join instance.instance_use u on u.setup = i.setup and u.instance_id = i.instance_id;

comment on view monitor.instance is 'Rented machines: how full each is, and its cost.';
comment on column monitor.instance.setup is 'Tenant.';
comment on column monitor.instance.instance_id is 'Number of the instance.';
comment on column monitor.instance.task_id is
  'Task that the instance was requested for; null = steps of every task may use it.';
comment on column monitor.instance.queue is 'PanDA queue of kind cloud whose jobs the instance takes; null = none.';
comment on column monitor.instance.type is 'Instance type.';
comment on column monitor.instance.state is 'requested, running or released.';
comment on column monitor.instance.steps is 'Steps that are placed on the instance.';
comment on column monitor.instance.used_cpu is 'Cores that these steps use.';
comment on column monitor.instance.cpu is 'Cores that the instance has.';
comment on column monitor.instance.free_cpu is 'Cores that are free.';
comment on column monitor.instance.used_ram is 'Memory that these steps use (MB).';
comment on column monitor.instance.ram is 'Memory that the instance has (MB).';
comment on column monitor.instance.free_ram is 'Memory that is free (MB).';
comment on column monitor.instance.price is 'Price per hour.';
comment on column monitor.instance.requested_at is 'When the instance was requested; null = not known.';
comment on column monitor.instance.started_at is 'When the instance began to run; null = not yet, or not known.';
comment on column monitor.instance.released_at is 'When the instance was released; null = not yet.';
comment on column monitor.instance.cost is
  'Cost since the instance was requested; null = the time of the request is not known.';
