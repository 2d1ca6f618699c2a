-- Tables, types and sequences of the schema resource, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

-- Users and working groups with what they run, and their quota.
create table resource.account (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  kind text default 'user'::text not null check (kind = any (array['user'::text, 'group'::text])),  -- user or group.
  name text not null,  -- User name or working group.
  running_jobs bigint default 0 check (running_jobs > -1e15 and running_jobs < 1e15),  -- Running jobs.
  queued_jobs bigint default 0 check (queued_jobs > -1e15 and queued_jobs < 1e15),  -- Queued jobs.
  running_cores bigint default 0 check (running_cores > -1e15 and running_cores < 1e15),  -- Cores of running jobs.
  queued_cores bigint default 0 check (queued_cores > -1e15 and queued_cores < 1e15),  -- Cores of queued jobs.
  quota jsonb,  -- Disk quota: used, limit (bytes), ok, near_limit, over_local (storages); null = none.
  -- Slots left until class A ends; null = not evaluated.
  rem_slots_a double precision check (rem_slots_a > -1e15 and rem_slots_a < 1e15),
  -- Slots left until class B ends; null = not evaluated.
  rem_slots_b double precision check (rem_slots_b > -1e15 and rem_slots_b < 1e15),
  evaluated timestamp with time zone,  -- When rem_slots_a and rem_slots_b were; null = they hold as they are.
  constraint account_pkey primary key (setup, kind, name),
  constraint account_queued_cores_allowed check (queued_cores >= 0),  -- 0 or more
  constraint account_queued_jobs_allowed check (queued_jobs >= 0),  -- 0 or more
  constraint account_running_cores_allowed check (running_cores >= 0),  -- 0 or more
  constraint account_running_jobs_allowed check (running_jobs >= 0)  -- 0 or more
);

-- The revision of the tables, kept by Alembic; written by broker db upgrade only.
create table resource.alembic_version (
  version_num character varying(32) not null,  -- Identifier of the revision.
  constraint alembic_version_pkc primary key (version_num)
);

-- How many of a queue's CPUs have an architecture level.
create table resource.architecture_level (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue.
  level text not null,  -- Level, such as x86_64-v3.
  percent double precision check (percent > -1e15 and percent < 1e15),  -- Percent of the CPUs that have it.
  constraint architecture_level_pkey primary key (setup, queue, level),
  constraint architecture_level_percent_allowed check (percent >= 0 and percent <= 100)  -- 0 to 100
);

-- PanDA's gdpconfig: a row of the setup counts before one without setup (conventions.md, Configuration lookup). The
-- keys that rules read, with defaults and units: resource.config_key.
create table resource.config (
  setup text references resource.setup(setup) on delete cascade,  -- Tenant; null = all of them.
  app text default 'jedi'::text not null,  -- jedi or pandaserver.
  component text default ''::text not null,  -- Component, such as jobbroker; empty = every component.
  key text not null check (key <> ''::text),  -- Key.
  -- Number, text, true or false.
  value jsonb not null check (jsonb_typeof(value) = any (array['number'::text, 'string'::text, 'boolean'::text])),
  constraint config_once unique nulls not distinct (setup, app, component, key)
);

-- Who a database role is in a setup: looked up by the login (ARCHITECTURE.md, Roles). No row, no access; operators need
-- none.
create table resource.identity (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  role_name text not null,  -- Role that was SET, else the login.
  -- Private pilot or submitter: bound to the owner group or owner named here, whatever the request contains.
  private boolean default false not null,
  owner_group text,  -- Group the identity acts for; null = any group of the owner.
  owner_dn text,  -- Owner the identity acts for; null = any of the group.
  constraint identity_pkey primary key (setup, role_name),
  constraint identity_private_names_somebody check (private = (owner_group is not null or owner_dn is not null))
);

-- One row: the release that is installed here, and how.
create table resource.installation (
  only_row boolean default true not null primary key check (only_row),  -- Always true: the table holds one row.
  release text not null,  -- Release of the program that last upgraded this database.
  role_prefix text not null,  -- Beginning of the roles' names, broker_ by default.
  -- Major version of the PostgreSQL that wrote the definitions in resource.installed_state.
  server_major integer not null,
  installed_at timestamp with time zone not null  -- When the last upgrade that changed anything ended.
);

-- Names of the roles in this installation; functions look them up.
create table resource.installation_role (
  -- owner, agent, submitter, operator or viewer.
  kind text not null primary key check (kind = any (array['owner'::text, 'agent'::text, 'submitter'::text,
    'operator'::text, 'viewer'::text])),
  role_name text not null unique  -- Name of the role in this cluster.
);

-- The function, procedure, view or trigger that each file of sql/ made, and the file's sha256.
create table resource.installed_object (
  path text not null primary key,  -- File below sql/.
  kind text not null,  -- function, procedure, view or trigger.
  schema_name text not null,  -- Schema of the object.
  object_name text not null,  -- Name of the object.
  arguments text not null,  -- Types of the input arguments as PostgreSQL writes them; empty for views and triggers.
  relation_name text,  -- Table of a trigger, else null.
  sha256 text not null,  -- sha256 of the file's text, in hex.
  release text not null,  -- Release that last wrote the object.
  installed_at timestamp with time zone not null  -- When the object was last written.
);

-- The catalogue as the last upgrade left it, in PostgreSQL's words; broker db check compares today's.
create table resource.installed_state (
  item text not null,  -- Kind and name of the object.
  aspect text not null,  -- definition, owner or comment.
  value text not null,  -- Text from the catalogue.
  constraint installed_state_pkey primary key (item, aspect)
);

-- Types of computation instances that can be rented, with what an instance of the type has (PACKING.md).
create table resource.instance_type (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  name text not null,  -- Name, such as c5.2xlarge.
  cpu numeric not null check (cpu > 0::numeric and cpu < 1e9),  -- Cores.
  ram numeric not null check (ram > 0::numeric and ram < 1e15),  -- Memory (MB).
  -- Price per hour, in the currency of the catalogue.
  price numeric not null check (price >= 0::numeric and price < 1e15),
  constraint instance_type_pkey primary key (setup, name)
);

-- Links between storage sites.
create table resource.link (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  src text not null,  -- Storage site that files leave.
  dst text not null,  -- Storage site that they go to.
  -- 0 best to 11 worst, -1 blocked; null = not known.
  closeness double precision check (closeness > -1e15 and closeness < 1e15),
  queued bigint check (queued > -1e15 and queued < 1e15),  -- Files queued, activity Production Output.
  queued_express bigint check (queued_express > -1e15 and queued_express < 1e15),  -- Files queued, activity Express.
  mbps_1h double precision check (mbps_1h > -1e15 and mbps_1h < 1e15),  -- Throughput of the last hour (MB/s).
  mbps_1d double precision check (mbps_1d > -1e15 and mbps_1d < 1e15),  -- Throughput of the last day (MB/s).
  mbps_1w double precision check (mbps_1w > -1e15 and mbps_1w < 1e15),  -- Throughput of the last week (MB/s).
  constraint link_pkey primary key (setup, src, dst),
  -- 0 (best) to 11 (worst), or -1 (blocked)
  constraint link_closeness_allowed check (closeness >= -1 and closeness <= 11),
  constraint link_mbps_1d_allowed check (mbps_1d >= 0),  -- 0 or more
  constraint link_mbps_1h_allowed check (mbps_1h >= 0),  -- 0 or more
  constraint link_mbps_1w_allowed check (mbps_1w >= 0),  -- 0 or more
  constraint link_queued_allowed check (queued >= 0),  -- 0 or more
  constraint link_queued_express_allowed check (queued_express >= 0)  -- 0 or more
);

-- Nuclei, where more is known of them than the queues say; a site with a queue of role nucleus is one without a row,
-- too.
create table resource.nucleus (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  nucleus text not null,  -- PanDA site.
  state text default 'ACTIVE'::text,  -- ACTIVE, or not to be used.
  bare_nucleus text,  -- only or allow (full chain); null = as in the catchall of its first queue.
  secondary_nucleus text,  -- Site whose storages a full-chain task uses.
  backlogged boolean,  -- Long transfer backlog, set by hand; null = computed from the links.
  constraint nucleus_pkey primary key (setup, nucleus),
  -- only or allow
  constraint nucleus_bare_nucleus_allowed check (bare_nucleus = any (array['only'::text, 'allow'::text]))
);

-- Requests for jobs by pilots of queues, by ten minutes, of which not every one is noted (taskqueue.roll_up_resources).
create table resource.pilot_request (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Unified queue.
  since timestamp with time zone not null,  -- Begin of the ten minutes.
  requests bigint not null,  -- Requests noted.
  constraint pilot_request_pkey primary key (setup, queue, since)
);

-- PanDA queues as CRIC publishes them. Null or 0 in a limit is no limit.
create table resource.queue (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Name of the PanDA queue.
  panda_site text,  -- PanDA site; a nucleus is a site with a queue of role nucleus.
  role text default 'satellite'::text,  -- nucleus or satellite.
  -- production, analysis, unified or another; the job brokers take production or analysis, and unified.
  type text default 'unified'::text,
  cloud text default 'WORLD'::text,  -- Cloud.
  status text default 'online'::text,  -- online, offline, brokeroff, test, standby, paused ...
  capability text,  -- ucore: the queue is unified, its pseudo-queues (one a resource type) are the candidates.
  workflow text,  -- Harvester's workflow, such as pull_ups.
  corecount integer default 1 check (corecount > -1e9 and corecount < 1e9),  -- Cores of a slot; null or 0 counts 1.
  -- HS06 per core; null or 0 counts 10.
  corepower double precision default 10 check (corepower > -1e15 and corepower < 1e15),
  maxrss double precision default 0 check (maxrss > -1e15 and maxrss < 1e15),  -- Memory of a slot at most (MB).
  minrss double precision default 0 check (minrss > -1e15 and minrss < 1e15),  -- Memory of a slot at least (MB).
  maxtime double precision default 0 check (maxtime > -1e15 and maxtime < 1e15),  -- Walltime at most (s).
  mintime double precision default 0 check (mintime > -1e15 and mintime < 1e15),  -- Walltime at least (s).
  maxwdir double precision default 0 check (maxwdir > -1e15 and maxwdir < 1e15),  -- Scratch of a slot at most (MiB).
  -- Input of a slot at most (MB); -1 = input is always read directly from the storage.
  maxinputsize double precision default 0 check (maxinputsize > -1e15 and maxinputsize < 1e15),
  releases text[] default '{ANY}'::text[],  -- ANY, AUTO, or releases.
  -- Pledged cores; -1 = opportunistic, 0 = none.
  pledgedcpu double precision default 0 check (pledgedcpu > -1e15 and pledgedcpu < 1e15),
  -- Transferring jobs at most; null or 0 counts 2000.
  transferringlimit double precision default 0 check (transferringlimit > -1e15 and transferringlimit < 1e15),
  -- Days that a transferring job of high priority may take.
  transtimehi double precision check (transtimehi > -1e15 and transtimehi < 1e15),
  -- Days that a transferring job of low priority may take.
  transtimelo double precision check (transtimelo > -1e15 and transtimelo < 1e15),
  fairsharepolicy text,  -- Shares of the site, such as type=evgen:100%,type=any:0% (zero-share.md).
  wnconnectivity text,  -- Outbound network of worker nodes: full, http or none, and an IP stack: full#IPv4.
  jobseed text default 'all'::text,  -- Event service: std, es, eshigh or all; null counts std.
  -- diskIO per core of running jobs at most (kB/s).
  maxdiskio double precision default 0 check (maxdiskio > -1e15 and maxdiskio < 1e15),
  direct_access_lan boolean,  -- Input can be read directly from the local storage.
  direct_access_wan boolean,  -- Input can be read directly from remote storages.
  tier text,  -- Tier, such as T2D.
  catchall text,  -- Flags and key=value items, separated by commas.
  params jsonb default '{}'::jsonb,  -- Parameters of the queue; looked up before catchall.
  uconfig jsonb default '{}'::jsonb,  -- Configuration of a unified queue.
  storage_site text,  -- Storage site that links are looked up by; null = the site of the default output storage.
  cric jsonb default '{}'::jsonb,  -- CRIC's other fields as they came; no rule of pgbroker reads them.
  resource_type text,  -- CRIC: GRID, hpc, cloud, ...; null = GRID.
  constraint queue_pkey primary key (setup, queue),
  constraint queue_corecount_allowed check (corecount >= '-1'::integer),  -- 0 or more, or -1
  constraint queue_corepower_allowed check (corepower >= 0),  -- 0 or more
  constraint queue_maxdiskio_allowed check (maxdiskio >= -1),  -- 0 or more, or -1
  constraint queue_maxinputsize_allowed check (maxinputsize >= -1),  -- 0 or more, or -1
  constraint queue_maxrss_allowed check (maxrss >= -1),  -- 0 or more, or -1
  constraint queue_maxtime_allowed check (maxtime >= -1),  -- 0 or more, or -1
  constraint queue_maxwdir_allowed check (maxwdir >= -1),  -- 0 or more, or -1
  constraint queue_minrss_allowed check (minrss >= -1),  -- 0 or more, or -1
  constraint queue_mintime_allowed check (mintime >= -1),  -- 0 or more, or -1
  constraint queue_pledgedcpu_allowed check (pledgedcpu >= -1),  -- 0 or more, or -1
  constraint queue_transferringlimit_allowed check (transferringlimit >= -1),  -- 0 or more, or -1
  constraint queue_transtimehi_allowed check (transtimehi >= -1),  -- 0 or more, or -1
  constraint queue_transtimelo_allowed check (transtimelo >= -1)  -- 0 or more, or -1
);

-- What is measured at a queue; changes by the minute.
create table resource.queue_activity (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue.
  -- Requests of pilots for a job in the last 3 h; null in both = no record.
  getjob bigint check (getjob > -1e15 and getjob < 1e15),
  updatejob bigint check (updatejob > -1e15 and updatejob < 1e15),  -- Heartbeats of pilots in the last 3 h.
  laststart timestamp with time zone,  -- When a job last started there; null = no record.
  -- Mean diskIO of the running jobs (kB/s per core); null = computed from the statistics.
  average_diskio double precision check (average_diskio > -1e15 and average_diskio < 1e15),
  workers_running bigint check (workers_running > -1e15 and workers_running < 1e15),  -- Batch workers running.
  workers_submitted bigint check (workers_submitted > -1e15 and workers_submitted < 1e15),  -- Batch workers submitted.
  ups boolean default false,  -- A pull queue of unified pilot streaming.
  core_running bigint check (core_running > -1e15 and core_running < 1e15),  -- Cores of running jobs.
  core_starting bigint check (core_starting > -1e15 and core_starting < 1e15),  -- Cores of starting jobs.
  site_class smallint,  -- Class for user analysis: 1 hi, 0 mid, -1 lo; null = not classified.
  site_classified timestamp with time zone,  -- When site_class was said; null = it holds as it is.
  constraint queue_activity_pkey primary key (setup, queue),
  constraint queue_activity_average_diskio_allowed check (average_diskio >= 0),  -- 0 or more
  constraint queue_activity_core_running_allowed check (core_running >= 0),  -- 0 or more
  constraint queue_activity_core_starting_allowed check (core_starting >= 0),  -- 0 or more
  constraint queue_activity_getjob_allowed check (getjob >= 0),  -- 0 or more
  -- 1 (hi), 0 (mid) or -1 (lo)
  constraint queue_activity_site_class_allowed check (site_class >= '-1'::integer and site_class <= 1),
  constraint queue_activity_updatejob_allowed check (updatejob >= 0),  -- 0 or more
  constraint queue_activity_workers_running_allowed check (workers_running >= 0),  -- 0 or more
  constraint queue_activity_workers_submitted_allowed check (workers_submitted >= 0)  -- 0 or more
);

-- Queues that another broker locked.
create table resource.queue_lock (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue.
  locked_at timestamp with time zone,  -- When; a lock counts five minutes; null = now.
  constraint queue_lock_pkey primary key (setup, queue)
);

-- Storages of a queue by direction and scope (CRIC's astorages); the first of a direction is the default.
create table resource.queue_storage (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue.
  -- read_lan: input; write_lan: output.
  direction text not null check (direction = any (array['read_lan'::text, 'write_lan'::text])),
  -- default or analysis.
  scope text default 'default'::text not null check (scope = any (array['default'::text, 'analysis'::text])),
  "position" integer not null check ("position" > -1e9 and "position" < 1e9),  -- Order, from 1.
  storage text,  -- Storage.
  constraint queue_storage_pkey primary key (setup, queue, direction, scope, "position")
);

-- Resource types that a unified queue is split into and tasks are sorted by (facts-and-formulas.md, resource-types). A
-- setup without rows has the six of resource.default_resource_type.
create table resource.resource_type (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  name text not null,  -- Name, such as SCORE or MCORE_HIMEM.
  mincore integer check (mincore > -1e9 and mincore < 1e9),  -- Cores at least; null = no limit.
  maxcore integer check (maxcore > -1e9 and maxcore < 1e9),  -- Cores at most; null = no limit.
  -- Memory per core at least (MB); null = no limit.
  minrampercore integer check (minrampercore > -1e9 and minrampercore < 1e9),
  -- Memory per core at most (MB); null = no limit.
  maxrampercore integer check (maxrampercore > -1e9 and maxrampercore < 1e9),
  constraint resource_type_pkey primary key (setup, name),
  constraint resource_type_maxcore_allowed check (maxcore >= 0),  -- 0 or more
  constraint resource_type_maxrampercore_allowed check (maxrampercore >= 0),  -- 0 or more
  constraint resource_type_mincore_allowed check (mincore >= 0),  -- 0 or more
  constraint resource_type_minrampercore_allowed check (minrampercore >= 0)  -- 0 or more
);

-- Setups (tenants). A setup comes into being with its first job or configuration.
create table resource.setup (
  setup text not null primary key check (setup <> ''::text),  -- Tenant: DIRAC's Setup, PanDA's vo.
  created_at timestamp with time zone default now() not null,  -- When the setup came into being.
  -- The moment that resource.clock() answers for a simulated setup; null = real time.
  simulated timestamp with time zone,
  -- A world that is evaluated by itself: configuration of all setups does not hold in it.
  alone boolean default false not null
);

-- Global shares.
create table resource.share (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  gshare text not null,  -- Global share.
  parent text,  -- Share that it is part of.
  target double precision check (target > -1e15 and target < 1e15),  -- Target (HS06).
  running double precision check (running > -1e15 and running < 1e15),  -- Running (HS06).
  queued double precision check (queued > -1e15 and queued < 1e15),  -- Queued (HS06).
  -- Usage divided by target, as a fraction whatever its name says (PanDA's).
  usage_percent double precision check (usage_percent > -1e15 and usage_percent < 1e15),
  -- The like with the share above it, as a fraction.
  equivalent_usage_percent double precision check (equivalent_usage_percent > -1e15 and equivalent_usage_percent <
    1e15),
  measured timestamp with time zone,  -- When the usage was measured; null = it holds as it is.
  constraint share_pkey primary key (setup, gshare)
);

-- Slots of the proactive job assignment (Harvester_Slots).
create table resource.slot (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue.
  number integer not null,  -- Which row of the queue, from 1.
  gshare text,  -- Global share; null = any.
  resource_type text,  -- Resource type; null = any.
  numslots bigint check (numslots > -1e15 and numslots < 1e15),  -- Slots in cores; 0 = take the starting jobs for them.
  constraint slot_pkey primary key (setup, queue, number),
  constraint slot_numslots_allowed check (numslots >= 0)  -- 0 or more
);

-- Software that a queue publishes (software-check.md); the queue ALL holds the sources of containers.
create table resource.software (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue, or ALL.
  cmtconfigs text[] default '{}'::text[],  -- Platforms.
  containers text[] default '{}'::text[],  -- Prefixes of container paths; any, /cvmfs.
  cvmfs text[] default '{}'::text[],  -- Repositories: atlas, nightlies, any.
  architectures jsonb default '[]'::jsonb,  -- Hardware: objects of type cpu or gpu with lists of strings.
  constraint software_pkey primary key (setup, queue)
);

-- Releases and caches that a queue publishes.
create table resource.software_tag (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue, or ALL.
  number integer not null,  -- Which tag of the queue, from 1.
  tag text,  -- Tag.
  cmtconfig text,  -- Platform.
  project text,  -- Project, such as Athena.
  release text,  -- Release, such as 21.0.38.
  container_name text,  -- Container of the release; empty = none.
  sources text[] default '{}'::text[],  -- Paths of the container.
  constraint software_tag_pkey primary key (setup, queue, number)
);
create index software_tag_container on resource.software_tag (setup, container_name) where (container_name <> ''::text);
create index software_tag_release on resource.software_tag (setup, project, release);
create index software_tag_source on resource.software_tag using gin (sources);

-- Storage endpoints (RSEs). Space in GB (1024^3 bytes); null counts 0.
create table resource.storage (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  storage text not null,  -- Name of the endpoint.
  type text default 'DATADISK'::text,  -- DATADISK, DATATAPE, SCRATCHDISK, ...
  is_tape boolean default false,  -- Files are on tape.
  site text,  -- Storage site: what links join.
  space_free double precision check (space_free > -1e15 and space_free < 1e15),  -- Free space (GB).
  -- Space of expired secondary data (GB).
  space_expired double precision check (space_expired > -1e15 and space_expired < 1e15),
  -- Space that must stay free (GB).
  space_min_free double precision check (space_min_free > -1e15 and space_min_free < 1e15),
  -- Space that is not available (GB).
  space_unavailable double precision check (space_unavailable > -1e15 and space_unavailable < 1e15),
  space_total double precision check (space_total > -1e15 and space_total < 1e15),  -- Total space (GB).
  -- Reading from the worker nodes: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.
  read_lan text,
  -- Writing from the worker nodes: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.
  write_lan text,
  -- Reading from elsewhere: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.
  read_wan text,
  -- Writing from elsewhere: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.
  write_wan text,
  cric jsonb default '{}'::jsonb,  -- CRIC's other fields as they came.
  constraint storage_pkey primary key (setup, storage),
  -- ON, OFF, TEST or PROBING
  constraint storage_read_lan_allowed check (read_lan = any (array['ON'::text, 'OFF'::text, 'TEST'::text,
    'PROBING'::text])),
  -- ON, OFF, TEST or PROBING
  constraint storage_read_wan_allowed check (read_wan = any (array['ON'::text, 'OFF'::text, 'TEST'::text,
    'PROBING'::text])),
  -- ON, OFF, TEST or PROBING
  constraint storage_write_lan_allowed check (write_lan = any (array['ON'::text, 'OFF'::text, 'TEST'::text,
    'PROBING'::text])),
  -- ON, OFF, TEST or PROBING
  constraint storage_write_wan_allowed check (write_wan = any (array['ON'::text, 'OFF'::text, 'TEST'::text,
    'PROBING'::text]))
);

-- GPUs of a queue's worker nodes, as the monitoring saw them.
create table resource.worker_gpu (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue.
  number integer not null,  -- Which row of the queue, from 1.
  vendor text,  -- Vendor.
  model text,  -- Model.
  vram double precision check (vram > -1e15 and vram < 1e15),  -- Memory (MB).
  architecture text,  -- Microarchitecture.
  framework_version text,  -- Version of the framework, such as CUDA's.
  driver_version text,  -- Version of the driver.
  constraint worker_gpu_pkey primary key (setup, queue, number),
  constraint worker_gpu_vram_allowed check (vram >= 0)  -- 0 or more
);
