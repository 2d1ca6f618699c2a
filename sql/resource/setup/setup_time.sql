-- The time of each setup; resource.clock reads it, and so do views.
create or replace view resource.setup_time as
select s.setup, coalesce(s.simulated, now()) as now
  from resource.setup s;

comment on view resource.setup_time is
  'The time of each setup: now(), or, for a simulated one, what resource.set_clock said.';
comment on column resource.setup_time.setup is 'Tenant.';
comment on column resource.setup_time.now is 'Its time.';
