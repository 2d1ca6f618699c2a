create or replace view instance.instance_use as
select j.setup, j.instance_id, count(*) as jobs, coalesce(sum(j.cpu), 0) as cpu, coalesce(sum(j.ram), 0) as ram
  from instance.job j
 where j.state = 'placed' and j.instance_id is not null
 group by j.setup, j.instance_id;

comment on view instance.instance_use is 'What the jobs that are placed on an instance use, added up.';
comment on column instance.instance_use.setup is 'Tenant.';
comment on column instance.instance_use.instance_id is 'Instance.';
comment on column instance.instance_use.jobs is 'Jobs that are placed on it.';
comment on column instance.instance_use.cpu is 'Cores of them.';
comment on column instance.instance_use.ram is 'Memory of them (MB).';
