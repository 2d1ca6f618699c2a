-- Tables, types and sequences of the schema lifecycle, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

create table lifecycle.leader (
  name text not null,
  holder uuid not null,
  held_by text not null,
  expires_at timestamp with time zone not null,
  constraint leader_pkey primary key (name)
);
comment on table lifecycle.leader is 'Who watches now. A lease, not a lock: every step is right with two who watch.';
comment on column lifecycle.leader.name is 'What is done by one at a time: watchdog.';
comment on column lifecycle.leader.holder is 'Who: a number drawn when it began.';
comment on column lifecycle.leader.held_by is 'Its host and process, for people.';
comment on column lifecycle.leader.expires_at is
  'Until then nobody else does it; by the server''s clock, not that of a setup.';

create table lifecycle.setting (
  setup text not null,
  timeouts text,
  most integer default 10000 not null,
  jobs_kept interval default '30 days'::interval not null,
  constraint setting_pkey primary key (setup),
  constraint setting_jobs_kept_check check (jobs_kept > '00:00:00'::interval and jobs_kept <= '100 years'::interval),
  constraint setting_most_check check (most > 0),
  constraint setting_timeouts_check check (timeouts = any (array['documented'::text, 'panda2026'::text])),
  constraint setting_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table lifecycle.setting is
  'Settings of the life of jobs, one row a setup that changed one (lifecycle.set_settings). lifecycle.setting_in_force'
  ' has those of every setup.';
comment on column lifecycle.setting.setup is 'Tenant.';
comment on column lifecycle.setting.timeouts is
  'Base profile whose timeouts apply; null = the base profile of the setup''s profile.';
comment on column lifecycle.setting.most is 'Jobs that one call touches at most, by rule.';
comment on column lifecycle.setting.jobs_kept is 'How long ended jobs are kept in workload.job.';
comment on constraint setting_jobs_kept_check on lifecycle.setting is 'longer than 0, at most 100 years';
comment on constraint setting_most_check on lifecycle.setting is 'at least 1';
comment on constraint setting_timeouts_check on lifecycle.setting is 'documented (or doc) or panda2026';
