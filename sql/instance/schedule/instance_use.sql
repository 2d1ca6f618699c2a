-- The join is lateral. When many steps had just been placed, the planner joined a sum over all steps by a loop over
-- both sides.
create or replace view instance.instance_use as
select i.setup, i.instance_id, u.steps, u.cpu, u.ram
  from instance.instance i
 cross join lateral (
   select count(*) as steps, coalesce(sum(s.cpu), 0) as cpu, coalesce(sum(s.ram), 0) as ram
     from instance.step s where s.setup = i.setup and s.instance_id = i.instance_id and s.state = 'placed') u;

comment on view instance.instance_use is 'Sums of the cores and memory that the steps placed on an instance use.';
comment on column instance.instance_use.instance_id is 'Instance.';
comment on column instance.instance_use.cpu is 'Cores that these steps use.';
comment on column instance.instance_use.ram is 'Memory that these steps use (MB).';
