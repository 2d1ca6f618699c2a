-- The tables of the schema resource. Edited in place until the first release; afterwards revisions change them.
-- A CHECK constraint's comment states in words what the constraint allows: resource.refusal shows that text.
-- What real tasks and CRIC's exports may hold is allowed, odd as it may be: -1 in limits, any status of a queue.

comment on schema resource is
  'Queues, storages, links, slots, configuration, shares, groups; what is installed here. Uses no other schema.';

comment on table resource.alembic_version is
  'The revision of the tables, kept by Alembic; written by broker db upgrade only.';
comment on column resource.alembic_version.version_num is 'Identifier of the revision.';

create table resource.installation (
  only_row     boolean default true primary key check (only_row),
  release      text not null,
  role_prefix  text not null,
  server_major int not null,
  installed_at timestamptz not null
);
comment on table resource.installation is 'One row: the release that is installed here, and how.';
comment on column resource.installation.only_row is 'Always true: the table holds one row.';
comment on column resource.installation.release is 'Release of the program that last upgraded this database.';
comment on column resource.installation.role_prefix is 'Beginning of the roles'' names, broker_ by default.';
comment on column resource.installation.server_major is
  'Major version of the PostgreSQL that wrote the definitions in resource.installed_state.';
comment on column resource.installation.installed_at is 'When the last upgrade that changed anything ended.';

create table resource.installation_role (
  kind      text primary key check (kind in ('owner', 'agent', 'submitter', 'operator', 'viewer')),
  role_name text not null unique
);
comment on table resource.installation_role is 'Names of the roles in this installation; functions look them up.';
comment on column resource.installation_role.kind is 'owner, agent, submitter, operator or viewer.';
comment on column resource.installation_role.role_name is 'Name of the role in this cluster.';

create table resource.installed_object (
  path          text primary key,
  kind          text not null,
  schema_name   text not null,
  object_name   text not null,
  arguments     text not null,
  relation_name text,
  sha256        text not null,
  release       text not null,
  installed_at  timestamptz not null
);
comment on table resource.installed_object is
  'The function, procedure, view or trigger that each file of sql/ made, and the file''s sha256.';
comment on column resource.installed_object.path is 'File below sql/.';
comment on column resource.installed_object.kind is 'function, procedure, view or trigger.';
comment on column resource.installed_object.schema_name is 'Schema of the object.';
comment on column resource.installed_object.object_name is 'Name of the object.';
comment on column resource.installed_object.arguments is
  'Types of the input arguments as PostgreSQL writes them; empty for views and triggers.';
comment on column resource.installed_object.relation_name is 'Table of a trigger, else null.';
comment on column resource.installed_object.sha256 is 'sha256 of the file''s text, in hex.';
comment on column resource.installed_object.release is 'Release that last wrote the object.';
comment on column resource.installed_object.installed_at is 'When the object was last written.';

create table resource.installed_state (
  item   text not null,
  aspect text not null,
  value  text not null,
  primary key (item, aspect)
);
comment on table resource.installed_state is
  'The catalogue as the last upgrade left it, in PostgreSQL''s words; broker db check compares today''s.';
comment on column resource.installed_state.item is 'Kind and name of the object.';
comment on column resource.installed_state.aspect is 'definition, owner or comment.';
comment on column resource.installed_state.value is 'Text from the catalogue.';

create table resource.setup (
  setup      text primary key check (setup <> ''),
  created_at timestamptz not null default now(),
  simulated  timestamptz,
  alone      boolean not null default false
);
comment on table resource.setup is 'Setups (tenants). A setup comes into being with its first job or configuration.';
comment on column resource.setup.created_at is 'When the setup came into being.';
comment on column resource.setup.simulated is
  'The moment that resource.clock() answers for a simulated setup; null = real time.';
comment on column resource.setup.alone is
  'A world that is evaluated by itself: configuration of all setups does not hold in it.';

create table resource.identity (
  setup       text not null references resource.setup on delete cascade,
  role_name   text not null,
  private     boolean not null default false,
  owner_group text,
  owner_dn    text,
  primary key (setup, role_name),
  constraint identity_private_names_somebody check (private = (owner_group is not null or owner_dn is not null))
);
comment on table resource.identity is
  'Who a database role is in a setup: looked up by the login (ARCHITECTURE.md, Roles). No row, no access; operators '
  'need none.';
comment on column resource.identity.role_name is 'Role that was SET, else the login.';
comment on column resource.identity.private is
  'Private pilot or submitter: bound to the owner group or owner named here, whatever the request contains.';
comment on column resource.identity.owner_group is 'Group the identity acts for; null = any group of the owner.';
comment on column resource.identity.owner_dn is 'Owner the identity acts for; null = any of the group.';

create table resource.resource_type (
  setup         text not null references resource.setup on delete cascade,
  name          text not null,
  mincore       int check (mincore > -1e9 and mincore < 1e9)
    constraint resource_type_mincore_allowed check (mincore >= 0),
  maxcore       int check (maxcore > -1e9 and maxcore < 1e9)
    constraint resource_type_maxcore_allowed check (maxcore >= 0),
  minrampercore int check (minrampercore > -1e9 and minrampercore < 1e9)
    constraint resource_type_minrampercore_allowed check (minrampercore >= 0),
  maxrampercore int check (maxrampercore > -1e9 and maxrampercore < 1e9)
    constraint resource_type_maxrampercore_allowed check (maxrampercore >= 0),
  primary key (setup, name)
);
comment on table resource.resource_type is
  'Resource types that a unified queue is split into and tasks are sorted by (facts-and-formulas.md, resource-types). '
  'A setup without rows has the six of resource.default_resource_type.';
comment on column resource.resource_type.name is 'Name, such as SCORE or MCORE_HIMEM.';
comment on column resource.resource_type.mincore is 'Cores at least; null = no limit.';
comment on column resource.resource_type.maxcore is 'Cores at most; null = no limit.';
comment on column resource.resource_type.minrampercore is 'Memory per core at least (MB); null = no limit.';
comment on column resource.resource_type.maxrampercore is 'Memory per core at most (MB); null = no limit.';

create table resource.queue (
  setup             text not null references resource.setup on delete cascade,
  queue             text not null,
  panda_site        text,
  role              text default 'satellite',
  type              text default 'unified',
  cloud             text default 'WORLD',
  status            text default 'online',
  capability        text,
  workflow          text,
  corecount         int default 1 check (corecount > -1e9 and corecount < 1e9)
    constraint queue_corecount_allowed check (corecount >= -1),
  corepower         float8 default 10 check (corepower > -1e15 and corepower < 1e15)
    constraint queue_corepower_allowed check (corepower >= 0),
  maxrss            float8 default 0 check (maxrss > -1e15 and maxrss < 1e15)
    constraint queue_maxrss_allowed check (maxrss >= -1),
  minrss            float8 default 0 check (minrss > -1e15 and minrss < 1e15)
    constraint queue_minrss_allowed check (minrss >= -1),
  maxtime           float8 default 0 check (maxtime > -1e15 and maxtime < 1e15)
    constraint queue_maxtime_allowed check (maxtime >= -1),
  mintime           float8 default 0 check (mintime > -1e15 and mintime < 1e15)
    constraint queue_mintime_allowed check (mintime >= -1),
  maxwdir           float8 default 0 check (maxwdir > -1e15 and maxwdir < 1e15)
    constraint queue_maxwdir_allowed check (maxwdir >= -1),
  maxinputsize      float8 default 0 check (maxinputsize > -1e15 and maxinputsize < 1e15)
    constraint queue_maxinputsize_allowed check (maxinputsize >= -1),
  releases          text[] default '{ANY}',
  pledgedcpu        float8 default 0 check (pledgedcpu > -1e15 and pledgedcpu < 1e15)
    constraint queue_pledgedcpu_allowed check (pledgedcpu >= -1),
  transferringlimit float8 default 0 check (transferringlimit > -1e15 and transferringlimit < 1e15)
    constraint queue_transferringlimit_allowed check (transferringlimit >= -1),
  transtimehi       float8 check (transtimehi > -1e15 and transtimehi < 1e15)
    constraint queue_transtimehi_allowed check (transtimehi >= -1),
  transtimelo       float8 check (transtimelo > -1e15 and transtimelo < 1e15)
    constraint queue_transtimelo_allowed check (transtimelo >= -1),
  fairsharepolicy   text,
  wnconnectivity    text,
  jobseed           text default 'all',
  maxdiskio         float8 default 0 check (maxdiskio > -1e15 and maxdiskio < 1e15)
    constraint queue_maxdiskio_allowed check (maxdiskio >= -1),
  direct_access_lan boolean,
  direct_access_wan boolean,
  tier              text,
  catchall          text,
  params            jsonb default '{}',
  uconfig           jsonb default '{}',
  storage_site      text,
  cric              jsonb default '{}',
  resource_type     text,
  primary key (setup, queue)
);
comment on table resource.queue is 'PanDA queues as CRIC publishes them. Null or 0 in a limit is no limit.';
comment on column resource.queue.queue is 'Name of the PanDA queue.';
comment on column resource.queue.panda_site is 'PanDA site; a nucleus is a site with a queue of role nucleus.';
comment on column resource.queue.role is 'nucleus or satellite.';
comment on column resource.queue.type is
  'production, analysis, unified or another; the job brokers take production or analysis, and unified.';
comment on column resource.queue.status is 'online, offline, brokeroff, test, standby, paused ...';
comment on column resource.queue.capability is
  'ucore: the queue is unified, its pseudo-queues (one a resource type) are the candidates.';
comment on column resource.queue.workflow is 'Harvester''s workflow, such as pull_ups.';
comment on column resource.queue.corecount is 'Cores of a slot; null or 0 counts 1.';
comment on column resource.queue.corepower is 'HS06 per core; null or 0 counts 10.';
comment on column resource.queue.maxrss is 'Memory of a slot at most (MB).';
comment on column resource.queue.minrss is 'Memory of a slot at least (MB).';
comment on column resource.queue.maxtime is 'Walltime at most (s).';
comment on column resource.queue.mintime is 'Walltime at least (s).';
comment on column resource.queue.maxwdir is 'Scratch of a slot at most (MiB).';
comment on column resource.queue.maxinputsize is
  'Input of a slot at most (MB); -1 = input is always read directly from the storage.';
comment on column resource.queue.releases is 'ANY, AUTO, or releases.';
comment on column resource.queue.pledgedcpu is 'Pledged cores; -1 = opportunistic, 0 = none.';
comment on column resource.queue.transferringlimit is 'Transferring jobs at most; null or 0 counts 2000.';
comment on column resource.queue.transtimehi is 'Days that a transferring job of high priority may take.';
comment on column resource.queue.transtimelo is 'Days that a transferring job of low priority may take.';
comment on column resource.queue.fairsharepolicy is
  'Shares of the site, such as type=evgen:100%,type=any:0% (zero-share.md).';
comment on column resource.queue.wnconnectivity is
  'Outbound network of worker nodes: full, http or none, and an IP stack: full#IPv4.';
comment on column resource.queue.jobseed is 'Event service: std, es, eshigh or all; null counts std.';
comment on column resource.queue.maxdiskio is 'diskIO per core of running jobs at most (kB/s).';
comment on column resource.queue.direct_access_lan is 'Input can be read directly from the local storage.';
comment on column resource.queue.direct_access_wan is 'Input can be read directly from remote storages.';
comment on column resource.queue.tier is 'Tier, such as T2D.';
comment on column resource.queue.catchall is 'Flags and key=value items, separated by commas.';
comment on column resource.queue.params is 'Parameters of the queue; looked up before catchall.';
comment on column resource.queue.uconfig is 'Configuration of a unified queue.';
comment on column resource.queue.storage_site is
  'Storage site that links are looked up by; null = the site of the default output storage.';
comment on column resource.queue.cric is 'CRIC''s other fields as they came; no rule of pgbroker reads them.';
comment on column resource.queue.resource_type is 'CRIC: GRID, hpc, cloud, ...; null = GRID.';

create table resource.queue_activity (
  setup             text not null references resource.setup on delete cascade,
  queue             text not null,
  getjob            bigint check (getjob > -1e15 and getjob < 1e15)
    constraint queue_activity_getjob_allowed check (getjob >= 0),
  updatejob         bigint check (updatejob > -1e15 and updatejob < 1e15)
    constraint queue_activity_updatejob_allowed check (updatejob >= 0),
  laststart         timestamptz,
  average_diskio    float8 check (average_diskio > -1e15 and average_diskio < 1e15)
    constraint queue_activity_average_diskio_allowed check (average_diskio >= 0),
  workers_running   bigint check (workers_running > -1e15 and workers_running < 1e15)
    constraint queue_activity_workers_running_allowed check (workers_running >= 0),
  workers_submitted bigint check (workers_submitted > -1e15 and workers_submitted < 1e15)
    constraint queue_activity_workers_submitted_allowed check (workers_submitted >= 0),
  ups               boolean default false,
  core_running      bigint check (core_running > -1e15 and core_running < 1e15)
    constraint queue_activity_core_running_allowed check (core_running >= 0),
  core_starting     bigint check (core_starting > -1e15 and core_starting < 1e15)
    constraint queue_activity_core_starting_allowed check (core_starting >= 0),
  site_class        smallint constraint queue_activity_site_class_allowed check (site_class between -1 and 1),
  site_classified   timestamptz,
  primary key (setup, queue)
);
comment on table resource.queue_activity is 'What is measured at a queue; changes by the minute.';
comment on column resource.queue_activity.getjob is
  'Requests of pilots for a job in the last 3 h; null in both = no record.';
comment on column resource.queue_activity.updatejob is 'Heartbeats of pilots in the last 3 h.';
comment on column resource.queue_activity.laststart is 'When a job last started there; null = no record.';
comment on column resource.queue_activity.average_diskio is
  'Mean diskIO of the running jobs (kB/s per core); null = computed from the statistics.';
comment on column resource.queue_activity.workers_running is 'Batch workers running.';
comment on column resource.queue_activity.workers_submitted is 'Batch workers submitted.';
comment on column resource.queue_activity.ups is 'A pull queue of unified pilot streaming.';
comment on column resource.queue_activity.core_running is 'Cores of running jobs.';
comment on column resource.queue_activity.core_starting is 'Cores of starting jobs.';
comment on column resource.queue_activity.site_class is
  'Class for user analysis: 1 hi, 0 mid, -1 lo; null = not classified.';
comment on column resource.queue_activity.site_classified is 'When site_class was said; null = it holds as it is.';
comment on constraint queue_activity_site_class_allowed on resource.queue_activity is '1 (hi), 0 (mid) or -1 (lo)';

create table resource.queue_storage (
  setup     text not null references resource.setup on delete cascade,
  queue     text not null,
  direction text not null check (direction in ('read_lan', 'write_lan')),
  scope     text not null default 'default' check (scope in ('default', 'analysis')),
  position  int not null check (position > -1e9 and position < 1e9),
  storage   text,
  primary key (setup, queue, direction, scope, position)
);
comment on table resource.queue_storage is
  'Storages of a queue by direction and scope (CRIC''s astorages); the first of a direction is the default.';
comment on column resource.queue_storage.direction is 'read_lan: input; write_lan: output.';
comment on column resource.queue_storage.scope is 'default or analysis.';
comment on column resource.queue_storage.storage is 'Storage.';
comment on constraint queue_storage_direction_check on resource.queue_storage is
  'read_lan (input) or write_lan (output)';
comment on constraint queue_storage_scope_check on resource.queue_storage is 'default or analysis';

create table resource.slot (
  setup         text not null references resource.setup on delete cascade,
  queue         text not null,
  number        int not null,
  gshare        text,
  resource_type text,
  numslots      bigint check (numslots > -1e15 and numslots < 1e15)
    constraint slot_numslots_allowed check (numslots >= 0),
  primary key (setup, queue, number)
);
comment on table resource.slot is 'Slots of the proactive job assignment (Harvester_Slots).';
comment on column resource.slot.number is 'Which row of the queue, from 1.';
comment on column resource.slot.gshare is 'Global share; null = any.';
comment on column resource.slot.resource_type is 'Resource type; null = any.';
comment on column resource.slot.numslots is 'Slots in cores; 0 = take the starting jobs for them.';

create table resource.nucleus (
  setup             text not null references resource.setup on delete cascade,
  nucleus           text not null,
  state             text default 'ACTIVE',
  bare_nucleus      text constraint nucleus_bare_nucleus_allowed check (bare_nucleus in ('only', 'allow')),
  secondary_nucleus text,
  backlogged        boolean,
  primary key (setup, nucleus)
);
comment on table resource.nucleus is
  'Nuclei, where more is known of them than the queues say; a site with a queue of role nucleus is one without a row, '
  'too.';
comment on column resource.nucleus.nucleus is 'PanDA site.';
comment on column resource.nucleus.state is 'ACTIVE, or not to be used.';
comment on column resource.nucleus.bare_nucleus is
  'only or allow (full chain); null = as in the catchall of its first queue.';
comment on column resource.nucleus.secondary_nucleus is 'Site whose storages a full-chain task uses.';
comment on column resource.nucleus.backlogged is 'Long transfer backlog, set by hand; null = computed from the links.';
comment on constraint nucleus_bare_nucleus_allowed on resource.nucleus is 'only or allow';

create table resource.storage (
  setup             text not null references resource.setup on delete cascade,
  storage           text not null,
  type              text default 'DATADISK',
  is_tape           boolean default false,
  site              text,
  space_free        float8 check (space_free > -1e15 and space_free < 1e15),
  space_expired     float8 check (space_expired > -1e15 and space_expired < 1e15),
  space_min_free    float8 check (space_min_free > -1e15 and space_min_free < 1e15),
  space_unavailable float8 check (space_unavailable > -1e15 and space_unavailable < 1e15),
  space_total       float8 check (space_total > -1e15 and space_total < 1e15),
  read_lan          text constraint storage_read_lan_allowed check (read_lan in ('ON', 'OFF', 'TEST', 'PROBING')),
  write_lan         text constraint storage_write_lan_allowed check (write_lan in ('ON', 'OFF', 'TEST', 'PROBING')),
  read_wan          text constraint storage_read_wan_allowed check (read_wan in ('ON', 'OFF', 'TEST', 'PROBING')),
  write_wan         text constraint storage_write_wan_allowed check (write_wan in ('ON', 'OFF', 'TEST', 'PROBING')),
  cric              jsonb default '{}',
  primary key (setup, storage)
);
comment on table resource.storage is 'Storage endpoints (RSEs). Space in GB (1024^3 bytes); null counts 0.';
comment on column resource.storage.storage is 'Name of the endpoint.';
comment on column resource.storage.type is 'DATADISK, DATATAPE, SCRATCHDISK, ...';
comment on column resource.storage.is_tape is 'Files are on tape.';
comment on column resource.storage.site is 'Storage site: what links join.';
comment on column resource.storage.space_free is 'Free space (GB).';
comment on column resource.storage.space_expired is 'Space of expired secondary data (GB).';
comment on column resource.storage.space_min_free is 'Space that must stay free (GB).';
comment on column resource.storage.space_unavailable is 'Space that is not available (GB).';
comment on column resource.storage.space_total is 'Total space (GB).';
comment on column resource.storage.read_lan is
  'Reading from the worker nodes: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.';
comment on column resource.storage.write_lan is
  'Writing from the worker nodes: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.';
comment on column resource.storage.read_wan is
  'Reading from elsewhere: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.';
comment on column resource.storage.write_wan is
  'Writing from elsewhere: ON, OFF, TEST or PROBING; OFF and TEST blacklist, null and all else are usable.';
comment on column resource.storage.cric is 'CRIC''s other fields as they came.';
comment on constraint storage_read_lan_allowed on resource.storage is 'ON, OFF, TEST or PROBING';
comment on constraint storage_write_lan_allowed on resource.storage is 'ON, OFF, TEST or PROBING';
comment on constraint storage_read_wan_allowed on resource.storage is 'ON, OFF, TEST or PROBING';
comment on constraint storage_write_wan_allowed on resource.storage is 'ON, OFF, TEST or PROBING';

create table resource.link (
  setup          text not null references resource.setup on delete cascade,
  src            text not null,
  dst            text not null,
  closeness      float8 check (closeness > -1e15 and closeness < 1e15)
    constraint link_closeness_allowed check (closeness between -1 and 11),
  queued         bigint check (queued > -1e15 and queued < 1e15) constraint link_queued_allowed check (queued >= 0),
  queued_express bigint check (queued_express > -1e15 and queued_express < 1e15)
    constraint link_queued_express_allowed check (queued_express >= 0),
  mbps_1h        float8 check (mbps_1h > -1e15 and mbps_1h < 1e15)
    constraint link_mbps_1h_allowed check (mbps_1h >= 0),
  mbps_1d        float8 check (mbps_1d > -1e15 and mbps_1d < 1e15)
    constraint link_mbps_1d_allowed check (mbps_1d >= 0),
  mbps_1w        float8 check (mbps_1w > -1e15 and mbps_1w < 1e15)
    constraint link_mbps_1w_allowed check (mbps_1w >= 0),
  primary key (setup, src, dst)
);
comment on table resource.link is 'Links between storage sites.';
comment on column resource.link.src is 'Storage site that files leave.';
comment on column resource.link.dst is 'Storage site that they go to.';
comment on column resource.link.closeness is '0 best to 11 worst, -1 blocked; null = not known.';
comment on column resource.link.queued is 'Files queued, activity Production Output.';
comment on column resource.link.queued_express is 'Files queued, activity Express.';
comment on column resource.link.mbps_1h is 'Throughput of the last hour (MB/s).';
comment on column resource.link.mbps_1d is 'Throughput of the last day (MB/s).';
comment on column resource.link.mbps_1w is 'Throughput of the last week (MB/s).';
comment on constraint link_closeness_allowed on resource.link is '0 (best) to 11 (worst), or -1 (blocked)';

create table resource.software (
  setup         text not null references resource.setup on delete cascade,
  queue         text not null,
  cmtconfigs    text[] default '{}',
  containers    text[] default '{}',
  cvmfs         text[] default '{}',
  architectures jsonb default '[]',
  primary key (setup, queue)
);
comment on table resource.software is
  'Software that a queue publishes (software-check.md); the queue ALL holds the sources of containers.';
comment on column resource.software.queue is 'Queue, or ALL.';
comment on column resource.software.cmtconfigs is 'Platforms.';
comment on column resource.software.containers is 'Prefixes of container paths; any, /cvmfs.';
comment on column resource.software.cvmfs is 'Repositories: atlas, nightlies, any.';
comment on column resource.software.architectures is 'Hardware: objects of type cpu or gpu with lists of strings.';

create table resource.software_tag (
  setup          text not null references resource.setup on delete cascade,
  queue          text not null,
  number         int not null,
  tag            text,
  cmtconfig      text,
  project        text,
  release        text,
  container_name text,
  sources        text[] default '{}',
  primary key (setup, queue, number)
);
create index software_tag_release on resource.software_tag (setup, project, release);
create index software_tag_container on resource.software_tag (setup, container_name) where container_name <> '';
create index software_tag_source on resource.software_tag using gin (sources);
comment on table resource.software_tag is 'Releases and caches that a queue publishes.';
comment on column resource.software_tag.queue is 'Queue, or ALL.';
comment on column resource.software_tag.number is 'Which tag of the queue, from 1.';
comment on column resource.software_tag.tag is 'Tag.';
comment on column resource.software_tag.cmtconfig is 'Platform.';
comment on column resource.software_tag.project is 'Project, such as Athena.';
comment on column resource.software_tag.release is 'Release, such as 21.0.38.';
comment on column resource.software_tag.container_name is 'Container of the release; empty = none.';
comment on column resource.software_tag.sources is 'Paths of the container.';

create table resource.architecture_level (
  setup   text not null references resource.setup on delete cascade,
  queue   text not null,
  level   text not null,
  percent float8 check (percent > -1e15 and percent < 1e15)
    constraint architecture_level_percent_allowed check (percent between 0 and 100),
  primary key (setup, queue, level)
);
comment on table resource.architecture_level is 'How many of a queue''s CPUs have an architecture level.';
comment on column resource.architecture_level.level is 'Level, such as x86_64-v3.';
comment on column resource.architecture_level.percent is 'Percent of the CPUs that have it.';
comment on constraint architecture_level_percent_allowed on resource.architecture_level is '0 to 100';

create table resource.worker_gpu (
  setup             text not null references resource.setup on delete cascade,
  queue             text not null,
  number            int not null,
  vendor            text,
  model             text,
  vram              float8 check (vram > -1e15 and vram < 1e15) constraint worker_gpu_vram_allowed check (vram >= 0),
  architecture      text,
  framework_version text,
  driver_version    text,
  primary key (setup, queue, number)
);
comment on table resource.worker_gpu is 'GPUs of a queue''s worker nodes, as the monitoring saw them.';
comment on column resource.worker_gpu.number is 'Which row of the queue, from 1.';
comment on column resource.worker_gpu.vendor is 'Vendor.';
comment on column resource.worker_gpu.model is 'Model.';
comment on column resource.worker_gpu.vram is 'Memory (MB).';
comment on column resource.worker_gpu.architecture is 'Microarchitecture.';
comment on column resource.worker_gpu.framework_version is 'Version of the framework, such as CUDA''s.';
comment on column resource.worker_gpu.driver_version is 'Version of the driver.';

create table resource.share (
  setup                    text not null references resource.setup on delete cascade,
  gshare                   text not null,
  parent                   text,
  target                   float8 check (target > -1e15 and target < 1e15),
  running                  float8 check (running > -1e15 and running < 1e15),
  queued                   float8 check (queued > -1e15 and queued < 1e15),
  usage_percent            float8 check (usage_percent > -1e15 and usage_percent < 1e15),
  equivalent_usage_percent float8 check (equivalent_usage_percent > -1e15 and equivalent_usage_percent < 1e15),
  measured                 timestamptz,
  primary key (setup, gshare)
);
comment on table resource.share is 'Global shares.';
comment on column resource.share.parent is 'Share that it is part of.';
comment on column resource.share.target is 'Target (HS06).';
comment on column resource.share.running is 'Running (HS06).';
comment on column resource.share.queued is 'Queued (HS06).';
comment on column resource.share.usage_percent is
  'Usage divided by target, as a fraction whatever its name says (PanDA''s).';
comment on column resource.share.equivalent_usage_percent is 'The like with the share above it, as a fraction.';
comment on column resource.share.measured is 'When the usage was measured; null = it holds as it is.';

create table resource.account (
  setup         text not null references resource.setup on delete cascade,
  kind          text not null default 'user' check (kind in ('user', 'group')),
  name          text not null,
  running_jobs  bigint default 0 check (running_jobs > -1e15 and running_jobs < 1e15)
    constraint account_running_jobs_allowed check (running_jobs >= 0),
  queued_jobs   bigint default 0 check (queued_jobs > -1e15 and queued_jobs < 1e15)
    constraint account_queued_jobs_allowed check (queued_jobs >= 0),
  running_cores bigint default 0 check (running_cores > -1e15 and running_cores < 1e15)
    constraint account_running_cores_allowed check (running_cores >= 0),
  queued_cores  bigint default 0 check (queued_cores > -1e15 and queued_cores < 1e15)
    constraint account_queued_cores_allowed check (queued_cores >= 0),
  quota         jsonb,
  rem_slots_a   float8 check (rem_slots_a > -1e15 and rem_slots_a < 1e15),
  rem_slots_b   float8 check (rem_slots_b > -1e15 and rem_slots_b < 1e15),
  evaluated     timestamptz,
  primary key (setup, kind, name)
);
comment on table resource.account is 'Users and working groups with what they run, and their quota.';
comment on column resource.account.kind is 'user or group.';
comment on column resource.account.name is 'User name or working group.';
comment on column resource.account.running_jobs is 'Running jobs.';
comment on column resource.account.queued_jobs is 'Queued jobs.';
comment on column resource.account.running_cores is 'Cores of running jobs.';
comment on column resource.account.queued_cores is 'Cores of queued jobs.';
comment on column resource.account.quota is
  'Disk quota: used, limit (bytes), ok, near_limit, over_local (storages); null = none.';
comment on column resource.account.rem_slots_a is 'Slots left until class A ends; null = not evaluated.';
comment on column resource.account.rem_slots_b is 'Slots left until class B ends; null = not evaluated.';
comment on column resource.account.evaluated is 'When rem_slots_a and rem_slots_b were; null = they hold as they are.';
comment on constraint account_kind_check on resource.account is 'user or group';

create table resource.queue_lock (
  setup     text not null references resource.setup on delete cascade,
  queue     text not null,
  locked_at timestamptz,
  primary key (setup, queue)
);
comment on table resource.queue_lock is 'Queues that another broker locked.';
comment on column resource.queue_lock.locked_at is 'When; a lock counts five minutes; null = now.';

create table resource.instance_type (
  setup text not null references resource.setup on delete cascade,
  name  text not null,
  cpu   numeric not null check (cpu > 0 and cpu < 1e9),
  ram   numeric not null check (ram > 0 and ram < 1e15),
  price numeric not null check (price >= 0 and price < 1e15),
  primary key (setup, name)
);
comment on table resource.instance_type is
  'Types of computation instances that can be rented, with what an instance of the type has (PACKING.md).';
comment on column resource.instance_type.name is 'Name, such as c5.2xlarge.';
comment on column resource.instance_type.cpu is 'Cores.';
comment on column resource.instance_type.ram is 'Memory (MB).';
comment on column resource.instance_type.price is 'Price per hour, in the currency of the catalogue.';
comment on constraint instance_type_cpu_check on resource.instance_type is 'more than 0 and less than 1e9';
comment on constraint instance_type_ram_check on resource.instance_type is 'more than 0 and less than 1e15';
comment on constraint instance_type_price_check on resource.instance_type is '0 or more, and less than 1e15';

create table resource.config (
  setup     text references resource.setup on delete cascade,
  app       text not null default 'jedi',
  component text not null default '',
  key       text not null check (key <> ''),
  value     jsonb not null check (jsonb_typeof(value) in ('number', 'string', 'boolean')),
  constraint config_once unique nulls not distinct (setup, app, component, key)
);
comment on table resource.config is
  'PanDA''s gdpconfig: a row of the setup counts before one without setup (conventions.md, Configuration lookup). The '
  'keys that rules read, with defaults and units: resource.config_key.';
comment on column resource.config.setup is 'Tenant; null = all of them.';
comment on column resource.config.app is 'jedi or pandaserver.';
comment on column resource.config.component is 'Component, such as jobbroker; empty = every component.';
comment on column resource.config.key is 'Key.';
comment on column resource.config.value is 'Number, text, true or false.';

create table resource.pilot_request (
  setup    text not null references resource.setup on delete cascade,
  queue    text not null,
  since    timestamptz not null,
  requests bigint not null,
  primary key (setup, queue, since)
);
comment on table resource.pilot_request is
  'Requests for jobs by pilots of queues, by ten minutes, of which not every one is noted '
  '(taskqueue.roll_up_resources).';
comment on column resource.pilot_request.queue is 'Unified queue.';
comment on column resource.pilot_request.since is 'Begin of the ten minutes.';
comment on column resource.pilot_request.requests is 'Requests noted.';
