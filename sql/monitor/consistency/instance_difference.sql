create or replace view monitor.instance_difference as
select i.setup, i.instance_id, i.state, i.used_cpu, u.cpu as step_cpu, i.used_ram, u.ram as step_ram
  from instance.instance i
  join instance.instance_use u on u.setup = i.setup and u.instance_id = i.instance_id
 where (i.used_cpu <> u.cpu or i.used_ram <> u.ram or i.state = 'released' and u.steps > 0)
   and (i.setup = (select resource.bound_setup())) is not false
union all
select s.setup, s.instance_id, null, null, sum(s.cpu), null, sum(s.ram)
  from instance.step s
 where s.state = 'placed'
   and not exists (select from instance.instance i where i.setup = s.setup and i.instance_id = s.instance_id)
   and (s.setup = (select resource.bound_setup())) is not false
 group by s.setup, s.instance_id;

comment on view monitor.instance_difference is
  'Instances whose use differs from the sum of their steps, released instances with steps, and missing instances on '
  'which steps are placed. Always empty; a row is a fault of pgbroker.';
comment on column monitor.instance_difference.state is 'State of the instance; null = the instance does not exist.';
comment on column monitor.instance_difference.used_cpu is 'Cores in use, as stored with the instance.';
comment on column monitor.instance_difference.step_cpu is 'Cores that the steps of the instance use.';
comment on column monitor.instance_difference.used_ram is 'Memory in use (MB), as stored with the instance.';
comment on column monitor.instance_difference.step_ram is 'Memory that the steps of the instance use (MB).';
