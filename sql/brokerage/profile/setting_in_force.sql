-- A setup whose settings were never changed has a row as well.
create or replace view brokerage.setting_in_force as
select p.setup, coalesce(s.profile, 'documented') as profile,
       coalesce(s.decisions_kept, interval '2 days') as decisions_kept,
       coalesce(s.counts_kept, interval '30 days') as counts_kept,
       coalesce(s.assignments_count, interval '15 minutes') as assignments_count,
       coalesce(s.makes_jobs, true) as makes_jobs, coalesce(s.keep_facts, true) as keep_facts,
       coalesce(s.replay_time, interval '2 minutes') as replay_time, coalesce(s.most_jobs, 1000000) as most_jobs
  from resource.setup p
  left join brokerage.setting s on s.setup = p.setup
 where (p.setup = (select resource.bound_setup())) is not false;

comment on view brokerage.setting_in_force is
  'Settings of brokerage as they hold in each setup; brokerage.set_settings changes them.';
