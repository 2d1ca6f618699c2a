-- The tables of the schema cluster as release 0.1.0 has them; revisions change them.

create schema cluster;
comment on schema cluster is 'Shards: which database has which setup. Only a front (broker cluster init) has rows.';

--: Databases that hold setups, as a front knows them.
create table cluster.shard (
  shard    text primary key check (shard ~ '^[a-z][a-z0-9_]{0,39}$'),  --: Name.
  number   int not null unique check (number >= 0),  --: Partition of PL/Proxy, from 0 without gaps.
  --: DSN by which libpq reaches the shard, without user and password: a call has the login of the caller of the front.
  dsn      text not null check (octet_length(dsn) between 1 and 2000),
  added_at timestamptz not null default now()  --: When the shard was added to the front.
);
comment on constraint shard_shard_check on cluster.shard is 'lower case letters, digits and underscores, at most 40';
comment on constraint shard_number_check on cluster.shard is '0 or more';
comment on constraint shard_dsn_check on cluster.shard is '1 to 2000 bytes';

--: The shard of each setup. A setup without a row is on no shard.
create table cluster.placement (
  setup     text primary key check (setup <> '' and octet_length(setup) <= 100),  --: Tenant: DIRAC's Setup, PanDA's vo.
  shard     text not null references cluster.shard,  --: Shard.
  placed_at timestamptz not null default now()  --: When the setup was placed there.
);
comment on constraint placement_setup_check on cluster.placement is '1 to 100 bytes';
create index placement_shard on cluster.placement (shard);
