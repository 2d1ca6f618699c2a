-- Looked up for each instance: a sum of all jobs that is then joined was planned as a loop over both
-- when much had just been placed.
create or replace view instance.instance_use as
select i.setup, i.instance_id, u.jobs, u.cpu, u.ram
  from instance.instance i
 cross join lateral (
   select count(*) as jobs, coalesce(sum(j.cpu), 0) as cpu, coalesce(sum(j.ram), 0) as ram
     from instance.job j where j.setup = i.setup and j.instance_id = i.instance_id and j.state = 'placed') u;

comment on view instance.instance_use is 'What the jobs that are placed on each instance use, added up.';
comment on column instance.instance_use.setup is 'Tenant.';
comment on column instance.instance_use.instance_id is 'Instance.';
comment on column instance.instance_use.jobs is 'Jobs that are placed on it.';
comment on column instance.instance_use.cpu is 'Cores of them.';
comment on column instance.instance_use.ram is 'Memory of them (MB).';
