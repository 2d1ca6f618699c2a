-- The tables of the schema resource as release 0.1.0 has them; revisions change them. The comment of a CHECK constraint
-- states in words which values it allows: resource.refusal shows that text. All values that real tasks and CRIC's
-- exports may have are allowed, even odd ones: -1 in limits, any status of a queue.

comment on schema resource is
  'Queues, storages, links, slots, configuration, shares, groups; the installation. Uses no other schema.';

comment on table resource.alembic_version is
  'The revision of the tables, kept by Alembic; written by broker db upgrade only.';
comment on column resource.alembic_version.version_num is 'Identifier of the revision.';

--: One row: the release that is installed here, and properties of the installation.
create table resource.installation (
  only_row     boolean default true primary key check (only_row),  --: Always true: the table holds one row.
  release      text not null,  --: Release of the program that last upgraded this database.
  role_prefix  text not null,  --: Beginning of the roles' names, broker_ by default.
  --: Major version of the PostgreSQL that wrote the definitions in resource.installed_state.
  server_major int not null,
  installed_at timestamptz not null,  --: When the last upgrade that changed anything ended.
  --: single (a database by itself), shard (some of the setups of a front), or front (shards have all setups).
  kind         text not null default 'single' check (kind in ('single', 'shard', 'front'))
);
comment on constraint installation_kind_check on resource.installation is 'single, shard or front';

--: Names of the roles in this installation; functions look them up.
create table resource.installation_role (
  --: Kind of the role: owner, agent, submitter, operator, viewer, or service, the login of broker serve.
  kind      text primary key check (kind in ('owner', 'agent', 'submitter', 'operator', 'viewer', 'service')),
  role_name text not null unique  --: Name of the role in this cluster.
);

--: The function, procedure, view or trigger that each file of sql/ made, and the file's sha256.
create table resource.installed_object (
  path          text primary key,  --: File below sql/.
  kind          text not null,  --: function, procedure, view or trigger.
  schema_name   text not null,  --: Schema of the object.
  object_name   text not null,  --: Name of the object.
  --: Types of the input arguments as PostgreSQL writes them; empty for views and triggers.
  arguments     text not null,
  relation_name text,  --: Table of a trigger, else null.
  sha256        text not null,  --: sha256 of the file's text, in hex.
  release       text not null,  --: Release that last wrote the object.
  installed_at  timestamptz not null  --: When the object was last written.
);

--: The catalogue as the last upgrade left it, in PostgreSQL's words; broker db check compares the present one with it.
create table resource.installed_state (
  item   text not null,  --: Kind and name of the object.
  aspect text not null,  --: definition, owner or comment.
  value  text not null,  --: Text from the catalogue.
  primary key (item, aspect)
);

--: Setups (tenants). A setup is created with its first job or configuration.
create table resource.setup (
  setup      text primary key check (setup <> '' and octet_length(setup) <= 100),
  created_at timestamptz not null default now(),  --: When the setup was created.
  simulated  timestamptz,  --: Time that resource.clock() returns for a simulated setup; null = real time.
  --: Whether the setup is a world that is evaluated by itself: configuration for all setups does not apply to it.
  alone      boolean not null default false
);

--: Setups that move from one shard to another (broker cluster move); calls are refused during the move. A setup that
--: left keeps its row.
create table resource.setup_move (
  setup    text primary key,
  --: State of the move: leaving (while the mover holds a lock), arriving (not yet on this shard), or moved (another
  --: shard has it).
  state    text not null check (state in ('leaving', 'arriving', 'moved')),
  shard    text not null,  --: The other shard.
  since    timestamptz not null default now()  --: When the move began.
);
comment on constraint setup_move_state_check on resource.setup_move is 'leaving, arriving or moved';

--: Identities of database roles in setups, looked up by the login (ARCHITECTURE.md, Roles). A role without a row has no
--: access, except operators, who need no row.
create table resource.identity (
  setup       text not null references resource.setup on delete cascade,
  role_name   text not null,  --: Role that was SET, else the login.
  --: Whether this is a private pilot or submitter, bound to the owner group or owner named here, whatever the request
  --: contains.
  private     boolean not null default false,
  owner_group text,  --: Group that the identity acts for; null = any group of the owner.
  owner_dn    text,  --: Owner that the identity acts for; null = any owner of the group.
  primary key (setup, role_name),
  constraint identity_private_names_somebody check (private = (owner_group is not null or owner_dn is not null))
);

--: A caller through the service (broker serve), as in the setting pgbroker.subject of a transaction.
create type resource.subject as (
  name        text,  --: Issuer and subject of the token, or the name of an opaque token.
  setup       text,  --: The only setup that the credential is for.
  owner_group text,  --: Owner group that the caller acts for; null = that of the role, if it has one.
  owner_dn    text  --: Owner that the caller acts for; null = that of the role, if it has one.
);

--: Credentials: they say which tokens of an issuer may use a setup through the service, and with which role. The
--: service has verified a token before it looks for a credential.
create table resource.credential (
  setup             text not null references resource.setup on delete cascade,
  name              text not null check (name <> ''),  --: Name, chosen by the operator who made the credential.
  issuer            text not null check (issuer <> ''),  --: Claim iss of the tokens.
  subject           text check (subject <> ''),  --: Claim sub of the only holder; null = any holder.
  --: Claim that must have the value, such as wlcg.groups; null = any token.
  claim             text check (claim <> ''),
  --: Value of the claim, or a path below which the claim's value lies, such as /atlas.
  value             text check (value <> ''),
  --: Role that the caller acts as: agent, submitter, operator or viewer.
  kind              text not null check (kind in ('agent', 'submitter', 'operator', 'viewer')),
  owner_group       text check (owner_group <> ''),  --: Owner group that the caller acts for.
  owner_dn          text check (owner_dn <> ''),  --: Owner that the caller acts for.
  owner_group_claim text check (owner_group_claim <> ''),  --: Claim that names the owner group.
  owner_dn_claim    text check (owner_dn_claim <> ''),  --: Claim that names the owner.
  primary key (setup, name),
  constraint credential_fits_once unique nulls not distinct (setup, issuer, subject, claim, value),
  constraint credential_claim_has_value check ((claim is null) = (value is null)),
  constraint credential_owner_group_once check (owner_group is null or owner_group_claim is null),
  constraint credential_owner_once check (owner_dn is null or owner_dn_claim is null)
);

--: Secrets of pilots: a pilot that knows the stamp and the secret gets a short token. Only a hash of the secret is
--: kept.
create table resource.pilot_secret (
  setup       text not null references resource.setup on delete cascade,
  stamp       text not null check (stamp <> ''),  --: Name of the secret, such as the stamp of a pilot.
  hash        bytea not null,  --: sha256 of the secret.
  owner_group text check (owner_group <> ''),  --: Owner group that the pilot acts for; null = any.
  owner_dn    text check (owner_dn <> ''),  --: Owner that the pilot acts for; null = any.
  uses_left   int not null check (uses_left >= 0),  --: Number of times that the secret may still be exchanged.
  expires_at  timestamptz not null,  --: Time from which it is refused.
  primary key (setup, stamp)
);

--: Opaque tokens. Only a hash of a token is kept.
create table resource.access_token (
  hash        bytea primary key,  --: sha256 of the token.
  setup       text not null references resource.setup on delete cascade,
  name        text not null check (name <> ''),  --: Name of the holder.
  kind        text not null check (kind in ('agent', 'submitter', 'operator', 'viewer')),  --: Role.
  owner_group text check (owner_group <> ''),  --: Owner group that the caller acts for; null = any.
  owner_dn    text check (owner_dn <> ''),  --: Owner that the caller acts for; null = any.
  stamp       text,  --: Secret that the token was exchanged for; null = made by resource.make_token.
  expires_at  timestamptz not null,  --: Time from which it is refused.
  foreign key (setup, stamp) references resource.pilot_secret on delete cascade
);
create index access_token_name on resource.access_token (setup, name);
create index access_token_stamp on resource.access_token (setup, stamp);
create index access_token_expires on resource.access_token (expires_at);

--: Tickets of broker serve --open: a ticket opens one session. Only a hash of a ticket is kept.
create table resource.login_ticket (
  hash       bytea primary key,  --: sha256 of the ticket.
  setup      text references resource.setup on delete cascade,  --: Setup of the session; null = every setup.
  name       text not null check (name <> ''),  --: Name of the holder.
  kind       text not null check (kind in ('agent', 'operator', 'viewer')),  --: Role.
  expires_at timestamptz not null  --: Time from which it is refused.
);

--: Sessions of people's browsers. Only a hash of the cookie is kept.
create table resource.browser_session (
  hash       bytea primary key,  --: sha256 of the cookie.
  --: sha256 of the login or ticket that opened the session, so that neither opens two.
  login      bytea not null unique,
  subject    text not null check (subject <> ''),  --: Issuer and subject of the login, or the name of the ticket.
  claims     jsonb,  --: Verified claims: iss, sub and those that credentials name; null = opened by a ticket.
  setup      text references resource.setup on delete cascade,  --: Setup of the ticket; null = every setup.
  kind       text check (kind in ('agent', 'operator', 'viewer')),  --: Role that a ticket gave.
  opened_at  timestamptz not null default now(),  --: When the person logged in.
  expires_at timestamptz not null,  --: Time from which it is refused.
  constraint browser_session_of_claims_or_ticket
    check ((claims is null) = (kind is not null) and (setup is null or kind is not null))
);
create index browser_session_subject on resource.browser_session (subject, opened_at);
create index browser_session_expires on resource.browser_session (expires_at);

-- No foreign key: triggers write the rows of a setup while it is removed.
--: Changes that people made: configuration, credentials, holds, cancelled jobs. The histories have the events of single
--: jobs.
create table resource.change (
  change_id bigint primary key generated always as identity,  --: Number of the change.
  setup     text,  --: Setup; null = the change is for every setup, such as that of a profile or a session.
  at        timestamptz not null default clock_timestamp(),  --: Time of the change.
  role_name text not null,  --: Database role that made the change.
  subject   text,  --: Subject that called through the service; null = a login.
  --: Kind of the changed object: CPU bucket, TaskQueue, alert rule, alert target, attribute, compatible platform,
  --: configuration, credential, error class, identity, job, limit, limit of instances, owner, owner group, pilot
  --: secret, profile, quarantine, retry rule, rule, session, settings, setup, task, ticket, timeout, token or trial.
  object    text not null,
  name      text not null,  --: Name of the object; the first one of several jobs.
  --: Values before the change, without hashes; an update has the columns that changed. Null if the object is new.
  before    jsonb,
  after     jsonb  --: Values after the change, in the same form; null = the object was removed.
);
create index change_setup on resource.change (setup, change_id);

--: Resource types, by which unified queues are split and tasks are classified (facts-and-formulas.md, resource-types).
--: A setup without rows has the six types of resource.default_resource_type.
create table resource.resource_type (
  setup         text not null references resource.setup on delete cascade,
  name          text not null,  --: Name, such as SCORE or MCORE_HIMEM.
  --: Minimum number of cores; null = no limit.
  mincore       int check (mincore > -1e9 and mincore < 1e9)
    constraint resource_type_mincore_allowed check (mincore >= 0),
  --: Maximum number of cores; null = no limit.
  maxcore       int check (maxcore > -1e9 and maxcore < 1e9)
    constraint resource_type_maxcore_allowed check (maxcore >= 0),
  --: Minimum memory per core (MB); null = no limit.
  minrampercore int check (minrampercore > -1e9 and minrampercore < 1e9)
    constraint resource_type_minrampercore_allowed check (minrampercore >= 0),
  --: Maximum memory per core (MB); null = no limit.
  maxrampercore int check (maxrampercore > -1e9 and maxrampercore < 1e9)
    constraint resource_type_maxrampercore_allowed check (maxrampercore >= 0),
  primary key (setup, name)
);

--: PanDA queues as CRIC publishes them. Null or 0 in a limit means no limit.
create table resource.queue (
  setup             text not null references resource.setup on delete cascade,
  queue             text not null,  --: Name of the PanDA queue.
  panda_site        text,  --: PanDA site; a nucleus is a site with a queue of role nucleus.
  role              text default 'satellite',  --: nucleus or satellite.
  --: production, analysis, unified or another; the job brokers take production or analysis, and unified.
  type              text default 'unified',
  cloud             text default 'WORLD',
  status            text default 'online',  --: online, offline, brokeroff, test, standby, paused ...
  capability        text,  --: ucore: the queue is unified, its pseudo-queues (one per resource type) are candidates.
  workflow          text,  --: Harvester's workflow, such as pull_ups.
  --: Cores of a slot; null or 0 counts as 1.
  corecount         int default 1 check (corecount > -1e9 and corecount < 1e9)
    constraint queue_corecount_allowed check (corecount >= -1),
  --: HS06 per core; null or 0 counts as 10.
  corepower         float8 default 10 check (corepower > -1e15 and corepower < 1e15)
    constraint queue_corepower_allowed check (corepower >= 0),
  --: Maximum memory of a slot (MB).
  maxrss            float8 default 0 check (maxrss > -1e15 and maxrss < 1e15)
    constraint queue_maxrss_allowed check (maxrss >= -1),
  --: Minimum memory of a slot (MB).
  minrss            float8 default 0 check (minrss > -1e15 and minrss < 1e15)
    constraint queue_minrss_allowed check (minrss >= -1),
  --: Maximum walltime (s).
  maxtime           float8 default 0 check (maxtime > -1e15 and maxtime < 1e15)
    constraint queue_maxtime_allowed check (maxtime >= -1),
  --: Minimum walltime (s).
  mintime           float8 default 0 check (mintime > -1e15 and mintime < 1e15)
    constraint queue_mintime_allowed check (mintime >= -1),
  --: Maximum scratch space of a slot (MiB).
  maxwdir           float8 default 0 check (maxwdir > -1e15 and maxwdir < 1e15)
    constraint queue_maxwdir_allowed check (maxwdir >= -1),
  --: Maximum input of a slot (MB); -1 = input is always read directly from the storage.
  maxinputsize      float8 default 0 check (maxinputsize > -1e15 and maxinputsize < 1e15)
    constraint queue_maxinputsize_allowed check (maxinputsize >= -1),
  releases          text[] default '{ANY}',  --: ANY, AUTO, or releases.
  --: Pledged cores; -1 = opportunistic, 0 = none.
  pledgedcpu        float8 default 0 check (pledgedcpu > -1e15 and pledgedcpu < 1e15)
    constraint queue_pledgedcpu_allowed check (pledgedcpu >= -1),
  --: Maximum number of transferring jobs; null or 0 counts as 2000.
  transferringlimit float8 default 0 check (transferringlimit > -1e15 and transferringlimit < 1e15)
    constraint queue_transferringlimit_allowed check (transferringlimit >= -1),
  --: Maximum number of days for a transferring job of high priority.
  transtimehi       float8 check (transtimehi > -1e15 and transtimehi < 1e15)
    constraint queue_transtimehi_allowed check (transtimehi >= -1),
  --: Maximum number of days for a transferring job of low priority.
  transtimelo       float8 check (transtimelo > -1e15 and transtimelo < 1e15)
    constraint queue_transtimelo_allowed check (transtimelo >= -1),
  fairsharepolicy   text,  --: Shares of the site, such as type=evgen:100%,type=any:0% (zero-share.md).
  wnconnectivity    text,  --: Outbound network of worker nodes: full, http or none, and an IP stack: full#IPv4.
  jobseed           text default 'all',  --: Event service: std, es, eshigh or all; null counts as std.
  --: Maximum diskIO per core of running jobs (kB/s).
  maxdiskio         float8 default 0 check (maxdiskio > -1e15 and maxdiskio < 1e15)
    constraint queue_maxdiskio_allowed check (maxdiskio >= -1),
  direct_access_lan boolean,  --: Whether input can be read directly from the local storage.
  direct_access_wan boolean,  --: Whether input can be read directly from remote storages.
  tier              text,  --: Tier, such as T2D.
  catchall          text,  --: Flags and key=value items, separated by commas.
  params            jsonb default '{}',  --: Parameters of the queue; looked up before catchall.
  uconfig           jsonb default '{}',  --: Configuration of a unified queue.
  storage_site      text,  --: Storage site that links are looked up by; null = the site of the default output storage.
  cric              jsonb default '{}',  --: CRIC's other fields as they came; no rule of pgbroker reads them.
  resource_type     text,  --: CRIC: GRID, hpc, cloud, ...; null = GRID.
  primary key (setup, queue)
);

--: Measurements at a queue, which change every minute.
create table resource.queue_activity (
  setup             text not null references resource.setup on delete cascade,
  queue             text not null,
  --: Requests of pilots for a job in the last 3 h; null here and in the heartbeats = no record.
  getjob            bigint check (getjob > -1e15 and getjob < 1e15)
    constraint queue_activity_getjob_allowed check (getjob >= 0),
  --: Heartbeats of pilots in the last 3 h.
  updatejob         bigint check (updatejob > -1e15 and updatejob < 1e15)
    constraint queue_activity_updatejob_allowed check (updatejob >= 0),
  pilots_at         timestamptz,  --: When getjob and updatejob were counted; they count for 3 h; null = for ever.
  laststart         timestamptz,  --: When a job last started there; null = no record.
  --: Mean diskIO of the running jobs (kB/s per core); null = computed from the statistics.
  average_diskio    float8 check (average_diskio > -1e15 and average_diskio < 1e15)
    constraint queue_activity_average_diskio_allowed check (average_diskio >= 0),
  --: Number of running batch workers.
  workers_running   bigint check (workers_running > -1e15 and workers_running < 1e15)
    constraint queue_activity_workers_running_allowed check (workers_running >= 0),
  --: Number of submitted batch workers.
  workers_submitted bigint check (workers_submitted > -1e15 and workers_submitted < 1e15)
    constraint queue_activity_workers_submitted_allowed check (workers_submitted >= 0),
  workers_at        timestamptz,  --: When the workers were counted; they count for an hour; null = for ever.
  ups               boolean default false,  --: Whether this is a pull queue of unified pilot streaming.
  --: Cores of running jobs.
  core_running      bigint check (core_running > -1e15 and core_running < 1e15)
    constraint queue_activity_core_running_allowed check (core_running >= 0),
  --: Cores of starting jobs.
  core_starting     bigint check (core_starting > -1e15 and core_starting < 1e15)
    constraint queue_activity_core_starting_allowed check (core_starting >= 0),
  --: Class for user analysis: 1 hi, 0 mid, -1 lo; null = not classified.
  site_class        smallint constraint queue_activity_site_class_allowed check (site_class between -1 and 1),
  site_classified   timestamptz,  --: When site_class was set; null = it does not expire.
  primary key (setup, queue)
);
comment on constraint queue_activity_site_class_allowed on resource.queue_activity is '1 (hi), 0 (mid) or -1 (lo)';

--: Storages of a queue by direction and scope (CRIC's astorages); the first of a direction is the default.
create table resource.queue_storage (
  setup     text not null references resource.setup on delete cascade,
  queue     text not null,
  direction text not null check (direction in ('read_lan', 'write_lan')),  --: read_lan: input; write_lan: output.
  scope     text not null default 'default' check (scope in ('default', 'analysis')),  --: default or analysis.
  position  int not null check (position > -1e9 and position < 1e9),
  storage   text,  --: Storage.
  primary key (setup, queue, direction, scope, position)
);
comment on constraint queue_storage_direction_check on resource.queue_storage is
  'read_lan (input) or write_lan (output)';

--: Slots of the proactive job assignment (Harvester_Slots).
create table resource.slot (
  setup         text not null references resource.setup on delete cascade,
  queue         text not null,
  number        int not null,  --: Number of the row of the queue, from 1.
  gshare        text,  --: Global share; null = any.
  resource_type text,  --: Resource type; null = any.
  --: Slots in cores; 0 = the number of starting jobs counts instead.
  numslots      bigint check (numslots > -1e15 and numslots < 1e15)
    constraint slot_numslots_allowed check (numslots >= 0),
  primary key (setup, queue, number)
);

--: Properties of nuclei that their queues do not state; a site with a queue of role nucleus is a nucleus even without a
--: row.
create table resource.nucleus (
  setup             text not null references resource.setup on delete cascade,
  nucleus           text not null,  --: PanDA site.
  state             text default 'ACTIVE',  --: State; a nucleus whose state is not ACTIVE is not used.
  --: only or allow (full chain); null = as in the catchall of its first queue.
  bare_nucleus      text constraint nucleus_bare_nucleus_allowed check (bare_nucleus in ('only', 'allow')),
  secondary_nucleus text,  --: Site whose storages a full-chain task uses.
  backlogged        boolean,  --: Whether there is a long transfer backlog, set by hand; null = computed from the links.
  primary key (setup, nucleus)
);

--: Storage endpoints (RSEs). Space in GB (1024^3 bytes); null counts as 0.
create table resource.storage (
  setup             text not null references resource.setup on delete cascade,
  storage           text not null,  --: Name of the endpoint.
  type              text default 'DATADISK',  --: DATADISK, DATATAPE, SCRATCHDISK, ...
  is_tape           boolean default false,  --: Whether files are on tape.
  site              text,  --: Storage site, which links connect.
  space_free        float8 check (space_free > -1e15 and space_free < 1e15),  --: Free space (GB).
  --: Space of expired secondary data (GB).
  space_expired     float8 check (space_expired > -1e15 and space_expired < 1e15),
  --: Space that must stay free (GB).
  space_min_free    float8 check (space_min_free > -1e15 and space_min_free < 1e15),
  --: Space that is not available (GB).
  space_unavailable float8 check (space_unavailable > -1e15 and space_unavailable < 1e15),
  space_total       float8 check (space_total > -1e15 and space_total < 1e15),  --: Total space (GB).
  --: State of reading from worker nodes: ON, OFF, TEST or PROBING; OFF and TEST: blacklisted; null and others: usable.
  read_lan          text constraint storage_read_lan_allowed check (read_lan in ('ON', 'OFF', 'TEST', 'PROBING')),
  --: State of writing from worker nodes: ON, OFF, TEST or PROBING; OFF and TEST: blacklisted; null and others: usable.
  write_lan         text constraint storage_write_lan_allowed check (write_lan in ('ON', 'OFF', 'TEST', 'PROBING')),
  --: State of reading from elsewhere: ON, OFF, TEST or PROBING; OFF and TEST: blacklisted; null and others: usable.
  read_wan          text constraint storage_read_wan_allowed check (read_wan in ('ON', 'OFF', 'TEST', 'PROBING')),
  --: State of writing from elsewhere: ON, OFF, TEST or PROBING; OFF and TEST: blacklisted; null and others: usable.
  write_wan         text constraint storage_write_wan_allowed check (write_wan in ('ON', 'OFF', 'TEST', 'PROBING')),
  cric              jsonb default '{}',  --: CRIC's other fields as they came.
  primary key (setup, storage)
);

--: Links between storage sites.
create table resource.link (
  setup          text not null references resource.setup on delete cascade,
  src            text not null,  --: Storage site that files leave.
  dst            text not null,  --: Storage site that files go to.
  --: Closeness from 0 (best) to 11 (worst), -1 = blocked; null = not known.
  closeness      float8 check (closeness > -1e15 and closeness < 1e15)
    constraint link_closeness_allowed check (closeness between -1 and 11),
  --: Files queued, activity Production Output.
  queued         bigint check (queued > -1e15 and queued < 1e15) constraint link_queued_allowed check (queued >= 0),
  --: Files queued, activity Express.
  queued_express bigint check (queued_express > -1e15 and queued_express < 1e15)
    constraint link_queued_express_allowed check (queued_express >= 0),
  --: Throughput of the last hour (MB/s).
  mbps_1h        float8 check (mbps_1h > -1e15 and mbps_1h < 1e15)
    constraint link_mbps_1h_allowed check (mbps_1h >= 0),
  --: Throughput of the last day (MB/s).
  mbps_1d        float8 check (mbps_1d > -1e15 and mbps_1d < 1e15)
    constraint link_mbps_1d_allowed check (mbps_1d >= 0),
  --: Throughput of the last week (MB/s).
  mbps_1w        float8 check (mbps_1w > -1e15 and mbps_1w < 1e15)
    constraint link_mbps_1w_allowed check (mbps_1w >= 0),
  queued_at         timestamptz,  --: When queued was measured; null = it does not expire.
  queued_express_at timestamptz,  --: When queued_express was measured; null = it does not expire.
  mbps_at           timestamptz,  --: When the throughput was measured; null = it does not expire.
  primary key (setup, src, dst)
);
comment on constraint link_closeness_allowed on resource.link is '0 (best) to 11 (worst), or -1 (blocked)';

--: Records of the last load of each export of another system (broker load --cric-queues and the like).
create table resource.loaded_record (
  setup     text not null references resource.setup on delete cascade,
  export    text not null,  --: Option of broker load, such as cric-queues.
  record    text not null,  --: Name of the record, such as that of a queue; of a link, SRC:DST.
  loaded_at timestamptz not null default now(),  --: When the record was last loaded.
  --: Reason why the last load could not read the record, whose row stays as it was loaded before; null = it could.
  stale     text,
  primary key (setup, export, record)
);

--: Software that a queue publishes (software-check.md); the queue ALL has the sources of containers.
create table resource.software (
  setup         text not null references resource.setup on delete cascade,
  queue         text not null,  --: Queue, or ALL.
  cmtconfigs    text[] default '{}',  --: Platforms.
  containers    text[] default '{}',  --: Prefixes of container paths, such as any or /cvmfs.
  cvmfs         text[] default '{}',  --: Repositories, such as atlas, nightlies or any.
  --: Hardware, such as [{"type": "cpu", "arch": ["x86_64"], "vendor": ["intel"], "instr": ["avx2"]}]; type: cpu or gpu.
  architectures jsonb default '[]',
  primary key (setup, queue)
);

--: Releases and caches that a queue publishes.
create table resource.software_tag (
  setup          text not null references resource.setup on delete cascade,
  queue          text not null,  --: Queue, or ALL.
  number         int not null,  --: Number of the tag of the queue, from 1.
  tag            text,  --: Tag.
  cmtconfig      text,  --: Platform.
  project        text,  --: Project, such as Athena.
  release        text,  --: Release, such as 21.0.38.
  container_name text,  --: Container of the release; empty = none.
  sources        text[] default '{}',  --: Paths of the container.
  primary key (setup, queue, number)
);
create index software_tag_release on resource.software_tag (setup, project, release);
create index software_tag_container on resource.software_tag (setup, container_name) where container_name <> '';
create index software_tag_source on resource.software_tag using gin (sources);

--: Fractions of a queue's CPUs that have an architecture level.
create table resource.architecture_level (
  setup   text not null references resource.setup on delete cascade,
  queue   text not null,
  level   text not null,  --: Level, such as x86_64-v3.
  --: Percentage of the CPUs that have the level.
  percent float8 check (percent > -1e15 and percent < 1e15)
    constraint architecture_level_percent_allowed check (percent between 0 and 100),
  primary key (setup, queue, level)
);
comment on constraint architecture_level_percent_allowed on resource.architecture_level is '0 to 100';

--: GPUs of a queue's worker nodes, as the monitoring saw them.
create table resource.worker_gpu (
  setup             text not null references resource.setup on delete cascade,
  queue             text not null,
  number            int not null,  --: Number of the row of the queue, from 1.
  vendor            text,  --: Vendor.
  model             text,  --: Model.
  --: Memory (MB).
  vram              float8 check (vram > -1e15 and vram < 1e15) constraint worker_gpu_vram_allowed check (vram >= 0),
  architecture      text,  --: Microarchitecture.
  framework_version text,  --: Version of the framework, such as CUDA's.
  driver_version    text,  --: Version of the driver.
  primary key (setup, queue, number)
);

--: GPUs of a queue's worker nodes, as its pilots offered them within the last day, at most 100 of a queue; not every
--: request is noted (taskqueue.roll_up_resources).
create table resource.pilot_gpu (
  setup             text not null references resource.setup on delete cascade,
  queue             text not null,
  gpu_id            uuid not null,  --: Digest of the properties.
  vendor            text,  --: Vendor.
  model             text,  --: Model.
  vram              float8,  --: Memory (MB).
  architecture      text,  --: Microarchitecture.
  framework_version text,  --: Version of the framework, such as CUDA's.
  driver_version    text,  --: Version of the driver.
  last_seen         timestamptz not null,  --: When a pilot last offered such a GPU.
  primary key (setup, queue, gpu_id)
);

--: Global shares.
create table resource.share (
  setup                    text not null references resource.setup on delete cascade,
  gshare                   text not null,
  parent                   text,  --: Share that it is part of.
  target                   float8 check (target > -1e15 and target < 1e15),  --: Target (HS06).
  running                  float8 check (running > -1e15 and running < 1e15),  --: Running work (HS06).
  queued                   float8 check (queued > -1e15 and queued < 1e15),  --: Queued work (HS06).
  --: Usage divided by target, as a fraction, although PanDA's name suggests a percentage.
  usage_percent            float8 check (usage_percent > -1e15 and usage_percent < 1e15),
  --: Usage divided by target of the parent share, as a fraction.
  equivalent_usage_percent float8 check (equivalent_usage_percent > -1e15 and equivalent_usage_percent < 1e15),
  measured                 timestamptz,  --: When the usage was measured; null = it does not expire.
  primary key (setup, gshare)
);

--: Users and working groups with their running jobs and their quota.
create table resource.account (
  setup         text not null references resource.setup on delete cascade,
  kind          text not null default 'user' check (kind in ('user', 'group')),  --: user or group.
  name          text not null,  --: User name or working group.
  --: Running jobs.
  running_jobs  bigint default 0 check (running_jobs > -1e15 and running_jobs < 1e15)
    constraint account_running_jobs_allowed check (running_jobs >= 0),
  --: Queued jobs.
  queued_jobs   bigint default 0 check (queued_jobs > -1e15 and queued_jobs < 1e15)
    constraint account_queued_jobs_allowed check (queued_jobs >= 0),
  --: Cores of running jobs.
  running_cores bigint default 0 check (running_cores > -1e15 and running_cores < 1e15)
    constraint account_running_cores_allowed check (running_cores >= 0),
  --: Cores of queued jobs.
  queued_cores  bigint default 0 check (queued_cores > -1e15 and queued_cores < 1e15)
    constraint account_queued_cores_allowed check (queued_cores >= 0),
  quota         jsonb,  --: Disk quota: used, limit (bytes), ok, near_limit, over_local (storages); null = none.
  --: Slots left until class A ends; null = not evaluated.
  rem_slots_a   float8 check (rem_slots_a > -1e15 and rem_slots_a < 1e15),
  --: Slots left until class B ends; null = not evaluated.
  rem_slots_b   float8 check (rem_slots_b > -1e15 and rem_slots_b < 1e15),
  evaluated     timestamptz,  --: When rem_slots_a and rem_slots_b were computed; null = they do not expire.
  primary key (setup, kind, name)
);

--: Queues that another broker locked.
create table resource.queue_lock (
  setup     text not null references resource.setup on delete cascade,
  queue     text not null,
  locked_at timestamptz,  --: When the queue was locked; a lock counts for five minutes; null = now.
  primary key (setup, queue)
);

--: Types of computation instances that can be rented, with the resources of an instance of the type (PACKING.md).
create table resource.instance_type (
  setup text not null references resource.setup on delete cascade,
  name  text not null,  --: Name, such as c5.2xlarge.
  cpu   numeric not null check (cpu > 0 and cpu < 1e9),  --: Cores.
  ram   numeric not null check (ram > 0 and ram < 1e15),  --: Memory (MB).
  price numeric not null check (price >= 0 and price < 1e15),  --: Price per hour, in the currency of the catalogue.
  primary key (setup, name)
);
comment on constraint instance_type_cpu_check on resource.instance_type is 'more than 0 and less than 1e9';
comment on constraint instance_type_ram_check on resource.instance_type is 'more than 0 and less than 1e15';
comment on constraint instance_type_price_check on resource.instance_type is '0 or more, and less than 1e15';

--: PanDA's gdpconfig. A row of the setup precedes one without a setup (conventions.md, Configuration lookup).
--: resource.config_key lists the keys that rules read, with defaults and units.
create table resource.config (
  setup     text references resource.setup on delete cascade,  --: Tenant; null = all tenants.
  app       text not null default 'jedi',  --: jedi or pandaserver.
  component text not null default '',  --: Component, such as jobbroker; empty = every component.
  key       text not null check (key <> ''),  --: Key.
  --: Number, text, true or false.
  value     jsonb not null check (jsonb_typeof(value) in ('number', 'string', 'boolean')),
  constraint config_once unique nulls not distinct (setup, app, component, key)
);

--: Requests for jobs by pilots of queues, by ten minutes; not every request is noted (taskqueue.roll_up_resources).
create table resource.pilot_request (
  setup    text not null references resource.setup on delete cascade,
  queue    text not null,  --: Unified queue.
  since    timestamptz not null,  --: Beginning of the ten minutes.
  requests bigint not null,  --: Number of requests noted.
  primary key (setup, queue, since)
);
