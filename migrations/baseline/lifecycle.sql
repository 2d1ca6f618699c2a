-- The tables of the schema lifecycle. Edited in place until the first release; afterwards revisions change them.

create schema lifecycle;
comment on schema lifecycle is 'Leases expiring, timeouts, rebrokerage. Uses workload, taskqueue, brokerage.';

create table lifecycle.setting (
  setup   text primary key references resource.setup on delete cascade,
  profile text not null default 'documented' check (profile in ('documented', 'panda2026')),
  most    int not null default 10000 check (most > 0)
);
comment on table lifecycle.setting is 'Timeouts of a setup; a setup without a row has the defaults.';
comment on column lifecycle.setting.setup is 'Tenant.';
comment on column lifecycle.setting.profile is 'Whose timeouts apply: documented or panda2026.';
comment on column lifecycle.setting.most is 'Jobs that one call touches at most, by rule.';

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
