-- Settings of every setup, including setups that never changed one. The view calls no function of brokerage, since
-- viewers read it.
create or replace view lifecycle.setting_in_force as
select p.setup,
       coalesce(s.timeouts,
                (select l.of_profile
                   from brokerage.setting_in_force b
                   join brokerage.profile_line l on l.profile = b.profile
                   join brokerage.shipped_profile h on h.profile = l.of_profile
                  where b.setup = p.setup), 'documented') as timeouts,
       coalesce(s.most, 10000) as most,
       coalesce(s.jobs_kept, interval '30 days') as jobs_kept,
       coalesce(s.minute_samples_kept, interval '2 days') as minute_samples_kept,
       coalesce(s.hour_samples_kept, interval '90 days') as hour_samples_kept,
       coalesce(s.day_samples_kept, interval '10 years') as day_samples_kept,
       coalesce(s.most_series, 20000) as most_series,
       s.loops
  from resource.setup p
  left join lifecycle.setting s on s.setup = p.setup
 where (p.setup = (select resource.bound_setup())) is not false;

comment on view lifecycle.setting_in_force is
  'Settings of the life of jobs in force in each setup; lifecycle.set_settings changes them.';
comment on column lifecycle.setting_in_force.timeouts is
  'Base profile whose timeouts apply, documented or panda2026; by default that of the profile of the setup.';
comment on column lifecycle.setting_in_force.loops is
  'Loops of broker run that the setup needs, a list such as ["maintain", "watchdog"]; null means maintain and watchdog '
  'while there are jobs, guard with the setting guard = on or a quarantine, and every loop that once ran. [] means '
  'none, since other processes do the work.';
