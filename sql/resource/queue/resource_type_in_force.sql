-- See facts-and-formulas.md, resource-types.
create or replace view resource.resource_type_in_force as
select r.setup, r.name, r.mincore, r.maxcore, r.minrampercore, r.maxrampercore
  from resource.resource_type r
union all
select s.setup, d.name, d.mincore, d.maxcore, d.minrampercore, d.maxrampercore
  from resource.setup s
 cross join resource.default_resource_type d
 where not exists (select from resource.resource_type r where r.setup = s.setup);

comment on view resource.resource_type_in_force is
  'The resource types that hold in each setup: its own, or resource.default_resource_type if the setup has none.';
comment on column resource.resource_type_in_force.name is 'Name of the resource type.';
