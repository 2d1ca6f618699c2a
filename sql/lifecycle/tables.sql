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
  profile text default 'documented'::text not null,
  most integer default 10000 not null,
  constraint setting_pkey primary key (setup),
  constraint setting_most_check check (most > 0),
  constraint setting_profile_check check (profile = any (array['documented'::text, 'panda2026'::text])),
  constraint setting_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table lifecycle.setting is 'Timeouts of a setup; a setup without a row has the defaults.';
comment on column lifecycle.setting.setup is 'Tenant.';
comment on column lifecycle.setting.profile is 'Whose timeouts apply: documented or panda2026.';
comment on column lifecycle.setting.most is 'Jobs that one call touches at most, by rule.';
