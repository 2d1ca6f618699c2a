-- import.md: a record that could not be read stays, and people have to know which one.
create or replace view monitor.loaded_record as
select r.setup, r.export, r.record, r.loaded_at, r.stale
  from resource.loaded_record r
 where (r.setup = (select resource.bound_setup())) is not false;

comment on view monitor.loaded_record is
  'Records of the last load of each export (broker load). One with a reason in stale could not be read, and its row '
  'stays as it was loaded before.';
