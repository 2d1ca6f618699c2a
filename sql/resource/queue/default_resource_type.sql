-- See facts-and-formulas.md, resource-types.
create or replace view resource.default_resource_type as
select d.name, d.mincore, d.maxcore, d.minrampercore, d.maxrampercore
  from (values ('SCORE', 1, 1, null::int, 2000),
               ('SCORE_HIMEM', 1, 1, 2001, 3000),
               ('SCORE_VHIMEM', 1, 1, 3001, null),
               ('MCORE', 2, null, null, 2000),
               ('MCORE_HIMEM', 2, null, 2001, 3000),
               ('MCORE_VHIMEM', 2, null, 3001, null)) d (name, mincore, maxcore, minrampercore, maxrampercore);

comment on view resource.default_resource_type is
  'PanDA''s six resource types, which hold in a setup that has no rows in resource.resource_type.';
