-- The tables of the schema taskqueue. Edited in place until the first release; afterwards revisions change them.
-- With `n_distinct = 1` the planner believes that every setup holds the whole table. Otherwise a setup that the
-- statistics do not know looks as if it had one row, and an index by setup and job id looks as good as the one by
-- TaskQueue: a match took 6 ms instead of 0.5 ms. The hot calls ask for generic plans (match_jobs.sql), which use this.

create schema taskqueue;
comment on schema taskqueue is
  'TaskQueues, requirements and waiting jobs: a resource asks, and one job is taken. Knows resource and workload.';

create table taskqueue.setting (
  setup             text primary key references resource.setup on delete cascade,
  ten_first         boolean not null default false,
  strict_keys       text[] not null default '{}' check (strict_keys <@ '{Site,GridCE,Platform,JobType}'),
  required_keys     text[] not null default '{CPUTime}'
    check (required_keys <@ array['OwnerDN', 'OwnerGroup', 'CPUTime', 'PilotType', 'Site', 'GridCE', 'Platform',
      'JobType', 'Tag', 'RequiredTag', 'BannedSite', 'BannedGridCE', 'BannedPlatform', 'BannedJobType', 'BannedTag',
      'MaxRAM', 'NumberOfProcessors', 'WholeNode', 'JobID', 'Setup']),
  queue_size        int not null default 5000 check (queue_size > 0),
  policy            text not null default 'dirac' check (policy in ('dirac', 'proportional')),
  lease_time        interval not null default '30 minutes'
    check (lease_time > interval '0' and lease_time <= interval '100 years'),
  share_delay       interval not null default '10 seconds'
    check (share_delay >= interval '0' and share_delay <= interval '100 years'),
  share_correction  boolean not null default false,
  correction_window interval not null default '7 days'
    check (correction_window > interval '0' and correction_window <= interval '100 years'),
  history_kept      interval not null default '30 days'
    check (history_kept > interval '0' and history_kept <= interval '100 years'),
  heartbeat_time    interval not null default '2 hours'
    check (heartbeat_time > interval '0' and heartbeat_time <= interval '100 years'),
  attempts          int not null default 3 check (attempts > 0),
  shares            text not null default 'groups' check (shares in ('groups', 'global'))
);
comment on table taskqueue.setting is 'Settings of matching, one row a setup (taskqueue.set_settings).';
comment on column taskqueue.setting.ten_first is
  'User priority 10 is a class of its own, before all others (as in today''s DIRAC).';
comment on column taskqueue.setting.strict_keys is
  'Keys of a resource description whose absence means that the resource offers nothing: of Site, GridCE, Platform, '
  'JobType.';
comment on column taskqueue.setting.required_keys is
  'Keys of a resource description; a request for a job without one of them is refused.';
comment on column taskqueue.setting.queue_size is
  'Jobs that a TaskQueue takes before a sibling with the same definition opens.';
comment on column taskqueue.setting.policy is
  'Order of the draw: dirac = by random()/priority; proportional = by -ln(random())/priority.';
comment on column taskqueue.setting.lease_time is
  'Time from the match to the agent''s first report, after which the lease expires.';
comment on column taskqueue.setting.share_delay is
  'Time within which the other TaskQueues of an entity get new priorities after one was opened or removed.';
comment on column taskqueue.setting.share_correction is 'Whether shares are corrected by the usage in the history.';
comment on column taskqueue.setting.correction_window is 'How far back the correction of shares looks.';
comment on column taskqueue.setting.history_kept is
  'How long taskqueue.history and workload.job_history are kept; all setups share them, so the longest counts.';
comment on column taskqueue.setting.heartbeat_time is
  'Time from a heartbeat of a running job until its lease expires and the job fails.';
comment on column taskqueue.setting.attempts is 'A job that was matched this often and never started fails.';
comment on column taskqueue.setting.shares is
  'The share of a group that is a leaf of the global shares: groups = that of its owner group, as in DIRAC; global = '
  'by how far the leaf is behind in the tree.';
comment on constraint setting_strict_keys_check on taskqueue.setting is 'of Site, GridCE, Platform, JobType';
comment on constraint setting_required_keys_check on taskqueue.setting is 'keys of a resource description';
comment on constraint setting_queue_size_check on taskqueue.setting is 'at least 1';
comment on constraint setting_policy_check on taskqueue.setting is 'dirac or proportional';
comment on constraint setting_share_delay_check on taskqueue.setting is '0 or longer, at most 100 years';
comment on constraint setting_attempts_check on taskqueue.setting is 'at least 1';
comment on constraint setting_shares_check on taskqueue.setting is 'groups or global';

create table taskqueue.cpu_bucket (
  setup    text not null references resource.setup on delete cascade,
  cpu_time bigint not null check (cpu_time > 0),
  primary key (setup, cpu_time)
);
comment on table taskqueue.cpu_bucket is
  'CPU buckets: the CPU time of a TaskQueue is rounded up to the next one. By default 500, 5000, 50000, 300000.';
comment on column taskqueue.cpu_bucket.cpu_time is 'Upper end of the bucket, seconds (DIRAC: normalised CPU work).';

create table taskqueue.platform_compatibility (
  setup    text not null references resource.setup on delete cascade,
  offered  text not null check (offered <> ''),
  accepted text not null check (accepted <> ''),
  primary key (setup, offered, accepted)
);
comment on table taskqueue.platform_compatibility is
  'Compatible platforms: a resource that offers one also offers the other.';
comment on column taskqueue.platform_compatibility.offered is 'Platform named by a resource.';
comment on column taskqueue.platform_compatibility.accepted is 'Platform that this resource also offers.';

create table taskqueue.owner_group (
  setup            text not null references resource.setup on delete cascade,
  owner_group      text not null check (owner_group <> ''),
  share            float8 not null default 1000 check (share > 0 and share < 'infinity'),
  job_sharing      boolean not null default false,
  allow_background boolean not null default false,
  primary key (setup, owner_group)
);
comment on table taskqueue.owner_group is
  'Owner groups with their share and properties. A group without a row has the defaults.';
comment on column taskqueue.owner_group.owner_group is 'Group used for the submission.';
comment on column taskqueue.owner_group.share is 'Share of the group, any unit; default 1000.';
comment on column taskqueue.owner_group.job_sharing is
  'Property JobSharing: the group is one entity for shares, and private pilots of the group run the jobs of all its '
  'owners.';
comment on column taskqueue.owner_group.allow_background is
  'TaskQueues with a mean weight of at most 0.1 get the priority 0.001 and take nothing from the share.';

create table taskqueue.held_owner (
  setup    text not null references resource.setup on delete cascade,
  owner_dn text not null,
  held_at  timestamptz not null,
  primary key (setup, owner_dn)
);
comment on table taskqueue.held_owner is 'Owners whose TaskQueues are held.';
comment on column taskqueue.held_owner.owner_dn is 'Owner.';
comment on column taskqueue.held_owner.held_at is 'Since when.';

-- Lists stay in the row (toast_tuple_target): matching reads them.
create table taskqueue.definition (
  setup         text not null references resource.setup on delete cascade,
  definition_id bigint not null generated always as identity,
  digest        uuid not null,
  family        uuid not null,
  requirements  jsonb not null,
  owner_dn      text not null,
  owner_group   text not null,
  cpu_time      bigint not null,
  min_ram       float8,
  pilot_types   text[] not null,
  sites         text[] not null,
  banned_sites  text[] not null,
  grid_ces      text[] not null,
  platforms     text[] not null,
  job_types     text[] not null,
  tags          text[] not null,
  created_at    timestamptz not null default now(),
  made_in       xid8 not null default pg_current_xact_id(),
  demands       int not null generated always as (
    1
    | case when min_ram is null then 0 else 2 end
    | case when pilot_types = '{}' then 0 else 4 end
    | case when job_types = '{}' then 0 else 8 end
    | case when grid_ces = '{}' then 0 else 16 end
  ) stored,
  primary key (setup, definition_id),
  constraint definition_once unique (setup, digest)
) with (toast_tuple_target = 8160);
create index definition_family on taskqueue.definition (setup, family);
create index definition_owner on taskqueue.definition (setup, owner_group, owner_dn);
create index definition_made_in on taskqueue.definition (setup, made_in);
alter table taskqueue.definition alter column setup set (n_distinct = 1);
comment on table taskqueue.definition is
  'The distinct requirements, shared by the TaskQueues that have them and by leases; matching compares these rows. '
  'Derived from the requirement tables (taskqueue.rebuild_matching makes it anew, taskqueue.check_matching compares).';
comment on column taskqueue.definition.definition_id is 'Definition.';
comment on column taskqueue.definition.digest is 'md5 of the canonical requirements.';
comment on column taskqueue.definition.family is
  'md5 of the requirements without Sites, BannedSites, MinRAM and MaxRAM.';
comment on column taskqueue.definition.requirements is
  'Canonical requirements with DIRAC''s keys: CPUTime as its bucket, lists sorted and without duplicates, empty lists '
  'left out.';
comment on column taskqueue.definition.owner_dn is 'OwnerDN.';
comment on column taskqueue.definition.owner_group is 'OwnerGroup.';
comment on column taskqueue.definition.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.definition.min_ram is 'MinRAM, MB.';
comment on column taskqueue.definition.pilot_types is 'PilotTypes, sorted.';
comment on column taskqueue.definition.sites is 'Sites, sorted; empty = any.';
comment on column taskqueue.definition.banned_sites is 'BannedSites, sorted.';
comment on column taskqueue.definition.grid_ces is 'GridCEs, sorted; empty = any.';
comment on column taskqueue.definition.platforms is 'Platforms, sorted; empty = any.';
comment on column taskqueue.definition.job_types is 'JobTypes, sorted; empty = any.';
comment on column taskqueue.definition.tags is 'Tags, sorted; all must be offered.';
comment on column taskqueue.definition.created_at is 'When these requirements were first seen.';
comment on column taskqueue.definition.made_in is 'Transaction that wrote the row.';
comment on column taskqueue.definition.demands is
  'Bits: 1 always; 2 MinRAM, 4 PilotTypes, 8 JobTypes, 16 GridCEs required; see taskqueue.known_offer.tests.';

create table taskqueue.task_queue (
  setup         text not null references resource.setup on delete cascade,
  task_queue_id bigint not null generated always as identity,
  definition_id bigint not null,
  owner_dn      text not null check (owner_dn <> ''),
  owner_group   text not null check (owner_group <> ''),
  cpu_time      bigint not null check (cpu_time > 0),
  min_ram       float8 check (min_ram >= 0),
  max_ram       float8 check (max_ram >= 0),
  priority      float8 not null check (priority > 0 and priority < 'infinity'),
  mean_weight   float8 not null check (mean_weight > 0),
  enabled       boolean not null default true,
  held          boolean not null default false,
  posted        boolean not null default false,
  created_at    timestamptz not null default now(),
  primary key (setup, task_queue_id),
  constraint task_queue_ram check (min_ram <= max_ram),
  foreign key (setup, definition_id) references taskqueue.definition
);
create index task_queue_definition on taskqueue.task_queue (setup, definition_id, task_queue_id desc);
create index task_queue_owner on taskqueue.task_queue (setup, owner_group, owner_dn);
alter table taskqueue.task_queue alter column setup set (n_distinct = 1);
comment on table taskqueue.task_queue is
  'TaskQueues: waiting jobs with identical requirements, about queue_size at most; the unit of matching. Columns hold '
  'the requirements with one value, the tables task_queue_* those with several; these are the truth.';
comment on column taskqueue.task_queue.definition_id is 'Its requirements as one row, shared with its siblings.';
comment on column taskqueue.task_queue.owner_dn is 'OwnerDN: who submitted the jobs.';
comment on column taskqueue.task_queue.owner_group is 'OwnerGroup: group used for the submission.';
comment on column taskqueue.task_queue.cpu_time is
  'Required CPU time, seconds; a trigger rounds it up to its bucket.';
comment on column taskqueue.task_queue.min_ram is 'MinRAM that the resource must offer, MB; null = no requirement.';
comment on column taskqueue.task_queue.max_ram is 'MaxRAM, MB; null = none.';
comment on column taskqueue.task_queue.priority is
  'Its part of the share of its entity; the draw orders by random()/priority, the smallest first.';
comment on column taskqueue.task_queue.mean_weight is 'Mean weight of its jobs when its priority was computed.';
comment on column taskqueue.task_queue.enabled is 'False: an operator took it out of matching.';
comment on column taskqueue.task_queue.held is 'True: held by an operator.';
comment on column taskqueue.task_queue.posted is
  'Whether it has postings: true exactly while it is enabled and neither it nor its owner is held.';
comment on column taskqueue.task_queue.created_at is 'When it was opened.';

create table taskqueue.posting_list (
  setup    text not null references resource.setup on delete cascade,
  site     text not null,
  cpu_time bigint not null,
  list_id  bigint not null generated always as identity,
  weight_classes    int[] not null default '{}',
  positions   int[] not null default '{}',
  upper_bounds float8[] not null default '{}',
  cumulative_bounds     float8[] not null default '{}',
  total_bound     float8 not null default 0,
  highest_bound      float8 not null default 0,
  position_count     bigint not null default 0,
  primary key (setup, site, cpu_time),
  constraint posting_list_id unique (setup, list_id)
) with (fillfactor = 50, autovacuum_analyze_threshold = 10);
alter table taskqueue.posting_list alter column setup set (n_distinct = 1);
comment on table taskqueue.posting_list is
  'Posting lists: the open TaskQueues that a site may see, by CPU bucket, in weight classes. Matching draws from them '
  '(taskqueue.next_candidate). Derived from task_queue and its requirement tables.';
comment on column taskqueue.posting_list.site is
  'A site that the TaskQueues list and do not ban; ''*'' = they list no site; '''' = every open TaskQueue, for '
  'resources without a site.';
comment on column taskqueue.posting_list.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.posting_list.list_id is 'Posting list.';
comment on column taskqueue.posting_list.weight_classes is
  'Its weight classes, ascending: class k holds the priorities above taskqueue.upper_bound_of(k - 1), up to '
  'taskqueue.upper_bound_of(k).';
comment on column taskqueue.posting_list.positions is
  'Number of positions of each weight class; the position of a TaskQueue that has gone is empty until '
  'taskqueue.maintain closes the gap.';
comment on column taskqueue.posting_list.upper_bounds is 'taskqueue.upper_bound_of of each weight class.';
comment on column taskqueue.posting_list.cumulative_bounds is
  'Running sum of positions x upper bound over the weight classes.';
comment on column taskqueue.posting_list.total_bound is
  'Sum of positions x upper bound over all weight classes: the last of cumulative_bounds.';
comment on column taskqueue.posting_list.highest_bound is 'The highest of upper_bounds.';
comment on column taskqueue.posting_list.position_count is 'Number of positions of all weight classes.';

create table taskqueue.posting (
  setup         text not null,
  list_id       bigint not null,
  weight_class          int not null,
  position         int not null,
  task_queue_id bigint not null,
  primary key (setup, list_id, weight_class, position),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index posting_task_queue on taskqueue.posting (setup, task_queue_id);
alter table taskqueue.posting alter column setup set (n_distinct = 1);
comment on table taskqueue.posting is
  'Postings: which TaskQueue has a position of a posting list. Derived from task_queue and its requirement tables.';
comment on column taskqueue.posting.list_id is 'Posting list.';
comment on column taskqueue.posting.weight_class is 'Weight class of the list.';
comment on column taskqueue.posting.position is 'Position in the weight class, from 1.';

create table taskqueue.job (
  setup         text not null,
  job_id        bigint not null check (job_id > 0),
  task_queue_id bigint not null,
  user_priority smallint not null check (user_priority between 0 and 10),
  held          boolean not null default false,
  attempts      int not null default 0,
  inserted_at   timestamptz not null,
  brokered      boolean not null default false,
  primary key (setup, job_id),
  foreign key (setup, task_queue_id) references taskqueue.task_queue
) with (fillfactor = 100, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index job_order on taskqueue.job (setup, task_queue_id, held, user_priority, job_id);
alter table taskqueue.job alter column setup set (n_distinct = 1);
comment on table taskqueue.job is 'Waiting jobs.';
comment on column taskqueue.job.task_queue_id is 'TaskQueue in which it waits.';
comment on column taskqueue.job.held is 'True: not matched until it is resumed.';
comment on column taskqueue.job.attempts is 'How often it was matched before.';
comment on column taskqueue.job.inserted_at is 'Since when it waits.';
comment on column taskqueue.job.brokered is 'Whether it is a job of workload.job, whose status follows.';

-- No foreign key: counting would lock the TaskQueue's row.
create table taskqueue.job_count (
  setup         text not null,
  task_queue_id bigint not null,
  known_to      xid8 not null,
  count_id      bigint not null generated always as identity,
  jobs          bigint[] not null check (cardinality(jobs) = 11),
  first_ids     bigint[] not null check (cardinality(first_ids) = 11),
  in_flight     xid8[] not null,
  primary key (setup, task_queue_id, known_to, count_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
alter table taskqueue.job_count alter column setup set (n_distinct = 1);
comment on table taskqueue.job_count is
  'Waiting jobs that are not held, by TaskQueue and user priority, as of a snapshot. The newest row of a TaskQueue '
  'counts, and job_count_change is added to it (taskqueue.job_level). Rows are appended, never updated; a match reads '
  'only the newest. Derived from job.';
comment on column taskqueue.job_count.known_to is
  'Changes made in this transaction or a later one are not counted here.';
comment on column taskqueue.job_count.count_id is 'Distinguishes counts with the same snapshot.';
comment on column taskqueue.job_count.jobs is 'Jobs with user priority 0, 1, ..., 10.';
comment on column taskqueue.job_count.first_ids is
  'For each user priority, an id below which no counted job lies; null = there was none. A match starts there and does '
  'not read over jobs taken before.';
comment on column taskqueue.job_count.in_flight is 'Changes made in these transactions are not counted here either.';

create table taskqueue.job_count_change (
  setup         text not null,
  task_queue_id bigint not null,
  made_in       xid8 not null default pg_current_xact_id(),
  user_priority smallint not null,
  change        bigint not null,
  first_id      bigint
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index job_count_change_queue on taskqueue.job_count_change (setup, task_queue_id, made_in);
alter table taskqueue.job_count_change alter column setup set (n_distinct = 1);
comment on table taskqueue.job_count_change is
  'Changes of the number of waiting jobs of a TaskQueue, appended so that no agent waits for another on a counter; '
  'taskqueue.fold_counts counts them.';
comment on column taskqueue.job_count_change.made_in is 'Transaction that wrote the row.';
comment on column taskqueue.job_count_change.change is 'Jobs added; negative: taken.';
comment on column taskqueue.job_count_change.first_id is 'Lowest id of the jobs added; null = none.';

create table taskqueue.job_count_horizon (
  setup    text primary key references resource.setup on delete cascade,
  finished xid8 not null,
  started  xid8 not null
);
comment on table taskqueue.job_count_horizon is
  'Progress of transactions when taskqueue.maintain last looked: counted changes of transactions that had finished '
  'then may go when all that had started then have finished.';
comment on column taskqueue.job_count_horizon.finished is 'All transactions before this one had finished.';
comment on column taskqueue.job_count_horizon.started is 'No transaction from this one on had started.';

create table taskqueue.lease (
  setup         text not null,
  job_id        bigint not null,
  attempt       int not null,
  token         uuid not null,
  task_queue_id bigint not null,
  definition_id bigint not null,
  user_priority smallint not null,
  state         text not null default 'matched',
  site          text,
  grid_ce       text,
  role_name     text not null,
  matched_at    timestamptz not null,
  reported_at   timestamptz,
  expires_at    timestamptz not null,
  kill_reason   text,
  brokered      boolean not null default false,
  primary key (setup, job_id)
);
create index lease_matched on taskqueue.lease (setup, matched_at) where state = 'matched';
alter table taskqueue.lease alter column setup set (n_distinct = 1);
comment on table taskqueue.lease is
  'Matched jobs that have not ended: who has the job, since when, and the token that later calls must present.';
comment on column taskqueue.lease.attempt is 'Number of this match of the job, from 1.';
comment on column taskqueue.lease.token is 'Random secret of this attempt.';
comment on column taskqueue.lease.task_queue_id is 'TaskQueue that the job was taken from.';
comment on column taskqueue.lease.definition_id is 'Requirements that the job had.';
comment on column taskqueue.lease.state is 'matched: no report yet; running: the agent reported.';
comment on column taskqueue.lease.site is
  'Site of the resource: the one that it offers, or the first that the TaskQueue accepts; null = it offers none or '
  'any.';
comment on column taskqueue.lease.grid_ce is
  'Computing element of the resource: the one that it offers, or the first that the TaskQueue accepts; null = it '
  'offers none or any.';
comment on column taskqueue.lease.role_name is 'Database role of the agent.';
comment on column taskqueue.lease.matched_at is 'When it was matched.';
comment on column taskqueue.lease.reported_at is 'Last report.';
comment on column taskqueue.lease.expires_at is 'When the lease expires unless the agent reports.';
comment on column taskqueue.lease.kill_reason is
  'Not null: the agent gets kill as the answer to its next report, with this reason.';
comment on column taskqueue.lease.brokered is 'Whether it is a job of workload.job, whose status follows.';

create table taskqueue.ended (
  setup         text not null,
  job_id        bigint not null,
  attempts      int not null,
  token         uuid,
  task_queue_id bigint not null,
  outcome       text not null,
  ended_at      timestamptz not null,
  primary key (setup, job_id)
);
create index ended_at on taskqueue.ended (setup, ended_at);
alter table taskqueue.ended alter column setup set (n_distinct = 1);
comment on table taskqueue.ended is 'Ended jobs, until taskqueue.forget_ended. An ended id may be inserted again.';
comment on column taskqueue.ended.attempts is 'How often it was matched.';
comment on column taskqueue.ended.token is 'Token of the last attempt; null = never matched.';
comment on column taskqueue.ended.task_queue_id is 'TaskQueue that it was last in.';
comment on column taskqueue.ended.outcome is 'finished, failed, cancelled or closed (PanDA''s words).';
comment on column taskqueue.ended.ended_at is 'When it ended.';

create table taskqueue.history (
  setup         text not null,
  at            timestamptz not null,
  job_id        bigint not null,
  attempt       int not null,
  event         text not null,
  task_queue_id bigint not null,
  definition_id bigint,
  cpu_time      bigint,
  owner_group   text,
  owner_dn      text,
  user_priority smallint,
  site          text,
  grid_ce       text,
  role_name     text not null
) partition by range (at);
create table taskqueue.history_default partition of taskqueue.history default;
create index history_job on taskqueue.history (setup, job_id, at);
comment on table taskqueue.history is
  'What happened to jobs, one row an event, partitioned by day. A match is written when its lease ends '
  '(taskqueue.match).';
comment on column taskqueue.history.attempt is 'Attempt number; 0 = never matched.';
comment on column taskqueue.history.event is
  'matched, running, released, held, resumed, kill asked, finished, failed, cancelled, closed or replaced.';
comment on column taskqueue.history.definition_id is 'Requirements.';
comment on column taskqueue.history.cpu_time is 'CPU bucket, seconds; of matches.';
comment on column taskqueue.history.owner_group is 'Owner group; of matches.';
comment on column taskqueue.history.owner_dn is 'Owner; of matches.';
comment on column taskqueue.history.site is 'Site of the lease.';
comment on column taskqueue.history.grid_ce is 'Computing element of the lease.';
comment on column taskqueue.history.role_name is 'Database role that caused it.';

-- No foreign key: who drops a TaskQueue would wait for who is posting it.
create table taskqueue.unposted (
  setup         text not null,
  task_queue_id bigint not null
);
create index unposted_setup on taskqueue.unposted (setup, task_queue_id);
alter table taskqueue.unposted alter column setup set (n_distinct = 1);
comment on table taskqueue.unposted is
  'TaskQueues that were opened while another transaction worked on their posting lists. They are posted by the next '
  'match that finds nothing else, by one match in sixteen, or by taskqueue.maintain.';

create type taskqueue.offer as (
  owner_dn text,
  owner_groups text[],
  sharing_groups text[],
  cpu_time bigint,
  sites text[],
  grid_ces text[],
  platforms text[],
  job_types text[],
  pilot_types text[],
  tags text[],
  required_tags text[],
  banned_sites text[],
  banned_grid_ces text[],
  banned_platforms text[],
  banned_job_types text[],
  banned_tags text[],
  max_ram float8,
  job_id bigint,
  limited boolean,
  reached bigint[]
);
comment on type taskqueue.offer is
  'A resource description, parsed and checked: what the resource of a JobAgent offers.';
comment on column taskqueue.offer.owner_dn is 'Private pilot: its owner; null = no condition by owner.';
comment on column taskqueue.offer.owner_groups is 'Private pilot: its groups; null = no condition by group.';
comment on column taskqueue.offer.sharing_groups is 'The members of owner_groups that have the property JobSharing.';
comment on column taskqueue.offer.cpu_time is 'CPU time offered, seconds.';
comment on column taskqueue.offer.sites is 'Sites; null = no condition, empty = offers none.';
comment on column taskqueue.offer.grid_ces is 'Computing elements; null = no condition, empty = offers none.';
comment on column taskqueue.offer.platforms is
  'Platforms and what is compatible with them; null = no condition, empty = offers none.';
comment on column taskqueue.offer.job_types is 'Job types; null = no condition, empty = offers none.';
comment on column taskqueue.offer.pilot_types is 'Pilot types; empty = offers none.';
comment on column taskqueue.offer.tags is 'Tags offered, those for processors included; null = no condition.';
comment on column taskqueue.offer.required_tags is 'Tags that the TaskQueue must list.';
comment on column taskqueue.offer.banned_sites is 'The TaskQueue may list none of these sites.';
comment on column taskqueue.offer.banned_grid_ces is 'The TaskQueue may list none of these CEs.';
comment on column taskqueue.offer.banned_platforms is 'The TaskQueue may list none of these platforms.';
comment on column taskqueue.offer.banned_job_types is 'The TaskQueue may list none of these job types.';
comment on column taskqueue.offer.banned_tags is 'The TaskQueue may list none of these tags.';
comment on column taskqueue.offer.max_ram is 'Memory offered, MB; null = no condition.';
comment on column taskqueue.offer.job_id is 'Only this job; null = any.';
comment on column taskqueue.offer.limited is 'Whether the site has limits.';
comment on column taskqueue.offer.reached is 'Limits of the site that are reached.';

create table taskqueue.site_limit (
  setup     text not null references resource.setup on delete cascade,
  limit_id  bigint not null generated always as identity,
  kind      text not null check (kind in ('running', 'delay')),
  site      text not null check (site <> ''),
  grid_ce   text check (grid_ce <> ''),
  attribute text not null,
  value     text not null,
  ceiling   int check (ceiling >= 0),
  delay     interval check (delay >= interval '0'),
  burst     int check (burst > 0),
  next_at   timestamptz,
  primary key (setup, limit_id),
  constraint site_limit_kind check (case kind when 'running' then ceiling is not null
    and delay is null else ceiling is null and delay is not null and burst is not null end),
  constraint site_limit_once unique nulls not distinct (setup, site, grid_ce, kind, attribute, value)
);
comment on table taskqueue.site_limit is 'Limits per site, optionally per CE, on a value of a requirement.';
comment on column taskqueue.site_limit.limit_id is 'Limit.';
comment on column taskqueue.site_limit.kind is 'running: jobs there at a time; delay: time between two matches.';
comment on column taskqueue.site_limit.site is 'Site.';
comment on column taskqueue.site_limit.grid_ce is 'Computing element; null = the whole site.';
comment on column taskqueue.site_limit.attribute is 'Requirement key.';
comment on column taskqueue.site_limit.value is
  'Value of that key; a job counts at every value that its TaskQueue lists.';
comment on column taskqueue.site_limit.ceiling is 'Jobs at a time; kind running.';
comment on column taskqueue.site_limit.delay is 'Time between two matches; kind delay.';
comment on column taskqueue.site_limit.burst is 'Matches that may come at once after a pause; kind delay.';
comment on column taskqueue.site_limit.next_at is
  'Token bucket as a clock: when the bucket is full again; kind delay.';

-- No foreign key, here and in limit_use: every match and every end of a job would lock the limit's row.
create table taskqueue.limit_slot (
  setup    text not null,
  limit_id bigint not null,
  slot     int not null check (slot <> 0),
  primary key (setup, limit_id, slot)
);
alter table taskqueue.limit_slot alter column setup set (n_distinct = 1);
comment on table taskqueue.limit_slot is
  'Free slots of running limits. A match takes one with SKIP LOCKED, so that a limit is exact and nobody waits.';
comment on column taskqueue.limit_slot.limit_id is 'Limit.';
comment on column taskqueue.limit_slot.slot is
  'Number of the slot; negative: a slot too many since the limit was lowered, to be removed with a free slot.';

create table taskqueue.limit_use (
  setup    text not null,
  job_id   bigint not null,
  limit_id bigint not null,
  slot     int not null check (slot > 0),
  primary key (setup, job_id, limit_id),
  constraint limit_use_once unique (setup, limit_id, slot)
);
alter table taskqueue.limit_use alter column setup set (n_distinct = 1);
comment on table taskqueue.limit_use is
  'Slots of running limits that leased jobs hold. A match never looks for these rows, so that a job ends without '
  'waiting.';
comment on column taskqueue.limit_use.limit_id is 'Limit that the job counts at.';
comment on column taskqueue.limit_use.slot is 'Number of the slot.';

create table taskqueue.share_mark (
  setup       text not null,
  owner_group text not null,
  marked_at   timestamptz not null
);
create index share_mark_group on taskqueue.share_mark (setup, owner_group);
comment on table taskqueue.share_mark is
  'Groups whose priorities have to be recomputed; rows are appended, and taskqueue.maintain deletes them.';
comment on column taskqueue.share_mark.owner_group is 'Group.';
comment on column taskqueue.share_mark.marked_at is 'When its TaskQueues changed.';

create table taskqueue.share_correction (
  setup       text not null references resource.setup on delete cascade,
  owner_group text not null,
  owner_dn    text not null,
  factor      float8 not null check (factor >= 0 and factor < 'infinity'),
  primary key (setup, owner_group, owner_dn)
);
comment on table taskqueue.share_correction is
  'Factors on the shares of groups: from the usage in the history where the setting share_correction is on; from the '
  'tree of global shares where shares is global.';
comment on column taskqueue.share_correction.owner_group is 'Group.';
comment on column taskqueue.share_correction.owner_dn is
  'Owner; empty = the whole group (one with JobSharing, or with a global share).';
comment on column taskqueue.share_correction.factor is
  'Expected share / used share, within 1/5 to 5; with a global share, what the tree gives / the share of the group.';

create table taskqueue.request (
  setup      text not null,
  role_name  text not null,
  request_id uuid not null,
  call       text not null,
  asked      uuid not null,
  answer     jsonb not null,
  made_at    timestamptz not null,
  primary key (setup, role_name, request_id)
);
alter table taskqueue.request alter column setup set (n_distinct = 1);
comment on table taskqueue.request is
  'Answers of calls with a request id, kept for ten minutes: the same call repeated gets the same answer.';
comment on column taskqueue.request.role_name is 'Database role that asked.';
comment on column taskqueue.request.request_id is 'Chosen by the client.';
comment on column taskqueue.request.call is 'Function called.';
comment on column taskqueue.request.asked is 'md5 of the arguments.';
comment on column taskqueue.request.answer is 'Its answer.';
comment on column taskqueue.request.made_at is 'When.';

create unlogged table taskqueue.known_offer (
  setup       text not null,
  digest      bigint not null,
  resource    jsonb not null,
  offer       taskqueue.offer not null,
  tests       int not null,
  cpu_buckets float8[] not null,
  ten_first   boolean not null,
  policy      text not null,
  lease_time  interval not null,
  seen_at     timestamptz,
  seen        bigint[] not null default '{}',
  matching    bigint[],
  matched_at  timestamptz,
  known_to    xid8,
  in_flight   xid8[]
) with (fillfactor = 70);
create index known_offer_digest on taskqueue.known_offer (setup, digest);
alter table taskqueue.known_offer alter column setup set (n_distinct = 1);
alter table taskqueue.known_offer alter column matching set storage external;
comment on table taskqueue.known_offer is
  'Resource descriptions as they were parsed, so that the next request with the same description is fast. Unlogged; a '
  'row goes when a configuration changes (taskqueue.forget_offers) and after ten minutes without a request.';
comment on column taskqueue.known_offer.digest is 'Hash of the description.';
comment on column taskqueue.known_offer.resource is
  'The description without CPUTime and JobID, with the owner of a private identity.';
comment on column taskqueue.known_offer.offer is 'The parsed description.';
comment on column taskqueue.known_offer.tests is
  'Which demands of a definition (its bits) this offer may not meet; Site, BannedSites, Platform and Tag are compared '
  'in any case. Bit 1: all conditions have to be tested.';
comment on column taskqueue.known_offer.cpu_buckets is 'CPU buckets of the setup, ascending.';
comment on column taskqueue.known_offer.ten_first is 'Setting of the setup.';
comment on column taskqueue.known_offer.policy is 'Setting of the setup.';
comment on column taskqueue.known_offer.lease_time is 'Setting of the setup.';
comment on column taskqueue.known_offer.seen_at is 'When taskqueue.note_resource last noted it.';
comment on column taskqueue.known_offer.seen is 'CPU buckets with which it was noted.';
comment on column taskqueue.known_offer.matching is
  'Definitions that match it whatever its CPUTime, where they are few; null = not searched yet, or many.';
comment on column taskqueue.known_offer.matched_at is 'When the matching definitions were searched.';
comment on column taskqueue.known_offer.known_to is
  'Definitions made in this transaction or a later one are not in matching yet.';
comment on column taskqueue.known_offer.in_flight is
  'Definitions made in these transactions are not in matching yet either.';

create unlogged table taskqueue.resource_seen (
  setup    text not null,
  class    uuid not null,
  seen_at  timestamptz not null,
  matched  boolean not null,
  resource jsonb not null
);
create index resource_seen_class on taskqueue.resource_seen (setup, class, seen_at desc);
alter table taskqueue.resource_seen alter column setup set (n_distinct = 1);
comment on table taskqueue.resource_seen is
  'Resource descriptions of requests, a sample: at most one row per kind in ten seconds. Unlogged; taskqueue.maintain '
  'rolls it up.';
comment on column taskqueue.resource_seen.class is
  'md5 of the canonical description, CPUTime as bucket, without JobID.';
comment on column taskqueue.resource_seen.seen_at is 'When.';
comment on column taskqueue.resource_seen.matched is 'Whether the sampled request got a job.';
comment on column taskqueue.resource_seen.resource is 'Canonical description.';

create table taskqueue.resource_class (
  setup      text not null references resource.setup on delete cascade,
  class      uuid not null,
  resource   jsonb not null,
  first_seen timestamptz not null,
  last_seen  timestamptz not null,
  samples    bigint not null,
  matched    bigint not null,
  primary key (setup, class)
);
comment on table taskqueue.resource_class is
  'Kinds of resources that asked, at most 10,000 per setup, the ones seen last.';
comment on column taskqueue.resource_class.class is 'Class.';
comment on column taskqueue.resource_class.resource is 'Canonical description.';
comment on column taskqueue.resource_class.first_seen is 'First seen.';
comment on column taskqueue.resource_class.last_seen is 'Last seen.';
comment on column taskqueue.resource_class.samples is
  'Ten-second windows in which a resource of this kind asked, a sample.';
comment on column taskqueue.resource_class.matched is 'Those windows whose sampled request got a job.';

create table taskqueue.task_queue_submit_pool (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_submit_pool_value on taskqueue.task_queue_submit_pool (setup, value);
comment on table taskqueue.task_queue_submit_pool is
  'Requirement of TaskQueues, one row per value: pool used to submit pilots for the jobs. Read by pilot submission, '
  'never by matching.';
comment on column taskqueue.task_queue_submit_pool.value is 'Submit pool.';

create table taskqueue.task_queue_grid_middleware (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_grid_middleware_value on taskqueue.task_queue_grid_middleware (setup, value);
comment on table taskqueue.task_queue_grid_middleware is
  'Requirement of TaskQueues, one row per value: grid middleware of the pilots. Read by pilot submission, never by '
  'matching.';
comment on column taskqueue.task_queue_grid_middleware.value is 'Grid middleware.';

create table taskqueue.task_queue_pilot_type (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_pilot_type_value on taskqueue.task_queue_pilot_type (setup, value);
comment on table taskqueue.task_queue_pilot_type is
  'Requirement of TaskQueues, one row per value: pilot type that may run the jobs; no row = any.';
comment on column taskqueue.task_queue_pilot_type.value is 'Pilot type, for example private.';

create table taskqueue.task_queue_site (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_site_value on taskqueue.task_queue_site (setup, value);
comment on table taskqueue.task_queue_site is
  'Requirement of TaskQueues, one row per value: site that may run the jobs; no row = any.';
comment on column taskqueue.task_queue_site.value is 'Site.';

create table taskqueue.task_queue_banned_site (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_banned_site_value on taskqueue.task_queue_banned_site (setup, value);
comment on table taskqueue.task_queue_banned_site is
  'Requirement of TaskQueues, one row per value: site that may not run the jobs.';
comment on column taskqueue.task_queue_banned_site.value is 'Site.';

create table taskqueue.task_queue_grid_ce (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_grid_ce_value on taskqueue.task_queue_grid_ce (setup, value);
comment on table taskqueue.task_queue_grid_ce is
  'Requirement of TaskQueues, one row per value: computing element that may run the jobs; no row = any.';
comment on column taskqueue.task_queue_grid_ce.value is 'Computing element.';

create table taskqueue.task_queue_platform (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_platform_value on taskqueue.task_queue_platform (setup, value);
comment on table taskqueue.task_queue_platform is
  'Requirement of TaskQueues, one row per value: platform that may run the jobs; no row = any.';
comment on column taskqueue.task_queue_platform.value is 'Platform.';

create table taskqueue.task_queue_job_type (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_job_type_value on taskqueue.task_queue_job_type (setup, value);
comment on table taskqueue.task_queue_job_type is
  'Requirement of TaskQueues, one row per value: type of the jobs; no row = any.';
comment on column taskqueue.task_queue_job_type.value is 'Job type.';

create table taskqueue.task_queue_tag (
  setup         text not null,
  task_queue_id bigint not null,
  value         text not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_tag_value on taskqueue.task_queue_tag (setup, value);
comment on table taskqueue.task_queue_tag is
  'Requirement of TaskQueues, one row per value: tag that the resource must offer.';
comment on column taskqueue.task_queue_tag.value is 'Tag.';

create type taskqueue.stream as (
  number int,
  seed bigint,
  bucket_index int,
  tries int,
  last_key float8,
  task_queue_id bigint,
  definition_id bigint,
  turn bigint,
  jobs bigint,
  job_id bigint,
  user_priority smallint,
  attempt text
);
comment on type taskqueue.stream is 'The random stream of one job of a batch, and the progress of its draws.';
comment on column taskqueue.stream.number is 'Number of the job in the batch, from 1.';
comment on column taskqueue.stream.seed is 'Seed of its draws.';
comment on column taskqueue.stream.bucket_index is
  'Number of the CPU bucket in which a TaskQueue is drawn; 0 = all buckets are exhausted.';
comment on column taskqueue.stream.tries is 'Candidates drawn in that bucket (taskqueue.next_candidate).';
comment on column taskqueue.stream.last_key is 'Key of the last candidate.';
comment on column taskqueue.stream.task_queue_id is
  'TaskQueue that was drawn, from which a job is to be picked; null = none yet.';
comment on column taskqueue.stream.definition_id is 'Definition of that TaskQueue.';
comment on column taskqueue.stream.turn is
  'Order among the streams of the batch that drew the same TaskQueue, from 1.';
comment on column taskqueue.stream.jobs is 'Jobs of that TaskQueue at its turn, the picked one included.';
comment on column taskqueue.stream.job_id is 'Job that was leased; null = none yet.';
comment on column taskqueue.stream.user_priority is 'Its user priority.';
comment on column taskqueue.stream.attempt is 'Its attempt, as the agent presents it.';

create table taskqueue.owner_weight (
  setup       text not null,
  owner_group text not null,
  owner_dn    text not null,
  light       boolean not null,
  task_queues      bigint not null,
  weight      numeric not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index owner_weight_owner on taskqueue.owner_weight (setup, owner_group, owner_dn);
alter table taskqueue.owner_weight alter column setup set (n_distinct = 1);
comment on table taskqueue.owner_weight is
  'Number of TaskQueues of an owner, and the sum of their mean weights; both are sums over the rows. A change appends '
  'a row in the same transaction; taskqueue.fold_weights reduces the rows. Derived from task_queue.mean_weight.';
comment on column taskqueue.owner_weight.owner_group is 'OwnerGroup of the TaskQueues.';
comment on column taskqueue.owner_weight.owner_dn is 'OwnerDN of the TaskQueues.';
comment on column taskqueue.owner_weight.light is
  'Whether the mean weight is at most 0.1: background where the group allows it.';
comment on column taskqueue.owner_weight.task_queues is 'TaskQueues; in a change, how many more or fewer.';
comment on column taskqueue.owner_weight.weight is
  'Sum of their mean weights, or the change of it; numeric, so that a removal subtracts exactly what was added.';
