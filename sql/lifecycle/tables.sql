-- Tables, types and sequences of the schema lifecycle, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

-- Who watches now. A lease, not a lock: every step is right with two who watch.
create table lifecycle.leader (
  name text not null primary key,  -- What is done by one at a time: watchdog.
  holder uuid not null,  -- Who: a number drawn when it began.
  held_by text not null,  -- Its host and process, for people.
  -- Until then nobody else does it; by the server's clock, not that of a setup.
  expires_at timestamp with time zone not null
);

-- Settings of the life of jobs, one row a setup that changed one (lifecycle.set_settings). lifecycle.setting_in_force
-- has those of every setup.
create table lifecycle.setting (
  -- Tenant: DIRAC's Setup, PanDA's vo.
  setup text not null primary key references resource.setup(setup) on delete cascade,
  -- Base profile whose timeouts apply; null = the base profile of the setup's profile.
  timeouts text check (timeouts = any (array['documented'::text, 'panda2026'::text])),
  most integer default 10000 not null check (most > 0),  -- Jobs that one call touches at most, by rule.
  -- How long ended jobs are kept in workload.job.
  jobs_kept interval default '30 days'::interval not null check (jobs_kept > '00:00:00'::interval and jobs_kept <=
    '100 years'::interval)
);
