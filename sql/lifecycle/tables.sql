-- Tables, types and sequences of the schema lifecycle, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

-- Who watches now. A lease, not a lock: every step is right with two who watch.
create table lifecycle.leader (
  name text not null,  -- What is done by one at a time: watchdog.
  holder uuid not null,  -- Who: a number drawn when it began.
  held_by text not null,  -- Its host and process, for people.
  -- Until then nobody else does it; by the server's clock, not that of a setup.
  expires_at timestamp with time zone not null,
  constraint leader_pkey primary key (name)
);

-- Timeouts of a setup; a setup without a row has the defaults.
create table lifecycle.setting (
  setup text not null,  -- Tenant.
  profile text default 'documented'::text not null,  -- Whose timeouts apply: documented or panda2026.
  most integer default 10000 not null,  -- Jobs that one call touches at most, by rule.
  constraint setting_pkey primary key (setup),
  constraint setting_most_check check (most > 0),
  constraint setting_profile_check check (profile = any (array['documented'::text, 'panda2026'::text])),
  constraint setting_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
