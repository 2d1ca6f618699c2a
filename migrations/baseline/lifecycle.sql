-- The tables of the schema lifecycle. Edited in place until the first release; afterwards revisions change them.

create schema lifecycle;
comment on schema lifecycle is 'Leases expiring, timeouts, rebrokerage. Uses workload, taskqueue, brokerage.';

create table lifecycle.setting (
  setup     text primary key references resource.setup on delete cascade,
  timeouts  text check (timeouts in ('documented', 'panda2026')),
  most      int not null default 10000 check (most > 0),
  jobs_kept interval not null default '30 days' check (jobs_kept > interval '0' and jobs_kept <= interval '100 years')
);
comment on table lifecycle.setting is
  'Settings of the life of jobs, one row a setup that changed one (lifecycle.set_settings). '
  'lifecycle.setting_in_force has those of every setup.';
comment on column lifecycle.setting.timeouts is
  'Base profile whose timeouts apply; null = the base profile of the setup''s profile.';
comment on column lifecycle.setting.most is 'Jobs that one call touches at most, by rule.';
comment on column lifecycle.setting.jobs_kept is 'How long ended jobs are kept in workload.job.';
comment on constraint setting_timeouts_check on lifecycle.setting is 'documented (or doc) or panda2026';
comment on constraint setting_most_check on lifecycle.setting is 'at least 1';

create table lifecycle.leader (
  name       text primary key,
  holder     uuid not null,
  held_by    text not null,
  expires_at timestamptz not null
);
comment on table lifecycle.leader is 'Who watches now. A lease, not a lock: every step is right with two who watch.';
comment on column lifecycle.leader.name is 'What is done by one at a time: watchdog.';
comment on column lifecycle.leader.holder is 'Who: a number drawn when it began.';
comment on column lifecycle.leader.held_by is 'Its host and process, for people.';
comment on column lifecycle.leader.expires_at is
  'Until then nobody else does it; by the server''s clock, not that of a setup.';
