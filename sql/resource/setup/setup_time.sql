create or replace view resource.setup_time as
select s.setup, coalesce(s.simulated, now()) as now
  from resource.setup s;

comment on view resource.setup_time is
  'The time of each setup: now(), or, in a simulated setup, the time set with resource.set_clock.';
comment on column resource.setup_time.now is 'Time of the setup.';
