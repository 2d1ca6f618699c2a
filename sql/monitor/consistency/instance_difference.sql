create or replace view monitor.instance_difference as
select i.setup, i.instance_id, i.state, i.used_cpu, u.cpu as job_cpu, i.used_ram, u.ram as job_ram
  from instance.instance i
  join instance.instance_use u on u.setup = i.setup and u.instance_id = i.instance_id
 where i.used_cpu <> u.cpu or i.used_ram <> u.ram or i.state = 'released' and u.jobs > 0
union all
select j.setup, j.instance_id, null, null, sum(j.cpu), null, sum(j.ram)
  from instance.job j
 where j.state = 'placed'
   and not exists (select from instance.instance i where i.setup = j.setup and i.instance_id = j.instance_id)
 group by j.setup, j.instance_id;

comment on view monitor.instance_difference is
  'Instances whose use is not that of their jobs, or that are released and have jobs, or are not there. '
  'Empty in health.';
comment on column monitor.instance_difference.setup is 'Tenant.';
comment on column monitor.instance_difference.instance_id is 'Instance.';
comment on column monitor.instance_difference.state is 'Its state; null = it is not there.';
comment on column monitor.instance_difference.used_cpu is 'Cores used, as the instance says.';
comment on column monitor.instance_difference.job_cpu is 'Cores used, by the jobs.';
comment on column monitor.instance_difference.used_ram is 'Memory used (MB), as the instance says.';
comment on column monitor.instance_difference.job_ram is 'Memory used (MB), by the jobs.';
