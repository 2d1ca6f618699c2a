-- after: instance.instance_use
create or replace view monitor.instance_difference as
select i.setup, i.instance_id, i.state, i.used_cpu, coalesce(u.cpu, 0) as job_cpu, i.used_ram, coalesce(u.ram, 0) as job_ram
  from instance.instance i
  left join instance.instance_use u on u.setup = i.setup and u.instance_id = i.instance_id
 where i.used_cpu <> coalesce(u.cpu, 0) or i.used_ram <> coalesce(u.ram, 0) or i.state = 'released' and u.jobs > 0
union all
select u.setup, u.instance_id, null, null, u.cpu, null, u.ram
  from instance.instance_use u
 where not exists (select from instance.instance i where i.setup = u.setup and i.instance_id = u.instance_id);

comment on view monitor.instance_difference is 'Instances whose use is not that of their jobs, or that are released and have jobs, or are not there. Empty in health.';
comment on column monitor.instance_difference.setup is 'Tenant.';
comment on column monitor.instance_difference.instance_id is 'Instance.';
comment on column monitor.instance_difference.state is 'Its state; null = it is not there.';
comment on column monitor.instance_difference.used_cpu is 'Cores used, as the instance says.';
comment on column monitor.instance_difference.job_cpu is 'Cores used, by the jobs.';
comment on column monitor.instance_difference.used_ram is 'Memory used (MB), as the instance says.';
comment on column monitor.instance_difference.job_ram is 'Memory used (MB), by the jobs.';
