-- Settings of every setup, those that nobody changed among them.
create or replace view lifecycle.setting_in_force as
select p.setup, coalesce(s.profile, 'documented') as profile, coalesce(s.most, 10000) as most,
       coalesce(w.history_kept, interval '30 days') as history_kept,
       coalesce(w.jobs_kept, interval '30 days') as jobs_kept
  from resource.setup p
  left join lifecycle.setting s on s.setup = p.setup
  left join workload.setting w on w.setup = p.setup;

comment on view lifecycle.setting_in_force is
  'Settings of the life of jobs as they hold in each setup; lifecycle.set_settings changes them.';
comment on column lifecycle.setting_in_force.setup is 'Tenant.';
comment on column lifecycle.setting_in_force.profile is 'Whose timeouts apply: documented or panda2026.';
comment on column lifecycle.setting_in_force.most is 'Jobs that one call touches at most, by rule.';
comment on column lifecycle.setting_in_force.history_kept is
  'How long workload.job_history is kept; all setups share it, so the longest counts.';
comment on column lifecycle.setting_in_force.jobs_kept is 'How long ended jobs are kept in workload.job.';
