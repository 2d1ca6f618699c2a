-- Tables, types and sequences of the schema taskqueue, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

create type taskqueue.leased as (
  job_id bigint,
  task_queue_id bigint,
  requirements jsonb,
  user_priority integer,
  attempt text
);
comment on type taskqueue.leased is 'The answer to a match.';
comment on column taskqueue.leased.job_id is 'Job id, the same in every schema of the setup.';
comment on column taskqueue.leased.task_queue_id is 'TaskQueue it was taken from.';
comment on column taskqueue.leased.requirements is 'Its requirements, canonical.';
comment on column taskqueue.leased.user_priority is 'User priority 0..10; 0 is background.';
comment on column taskqueue.leased.attempt is 'Attempt for the later calls about the job: number, hyphen, token.';

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
  max_ram double precision,
  job_id bigint,
  limited boolean,
  reached bigint[]
);
comment on type taskqueue.offer is 'A resource description, parsed and checked: what a JobAgent offers (section 4).';
comment on column taskqueue.offer.owner_dn is 'Private pilot: the only owner it serves; null = by group, or generic.';
comment on column taskqueue.offer.owner_groups is 'Private pilot: the groups it serves; null = no condition by group.';
comment on column taskqueue.offer.sharing_groups is 'Those of owner_groups that have the property JobSharing.';
comment on column taskqueue.offer.cpu_time is 'CPU time offered, seconds.';
comment on column taskqueue.offer.sites is 'Sites; null = no condition, empty = offers none.';
comment on column taskqueue.offer.grid_ces is 'Computing elements; null = no condition, empty = offers none.';
comment on column taskqueue.offer.platforms is
  'Platforms and what is compatible with them; null = no condition, empty = offers none.';
comment on column taskqueue.offer.job_types is 'Job types; null = no condition, empty = offers none.';
comment on column taskqueue.offer.pilot_types is 'Pilot types; empty = offers none.';
comment on column taskqueue.offer.tags is 'Tags offered, processors included; null = no condition.';
comment on column taskqueue.offer.required_tags is 'Tags that the queue must list.';
comment on column taskqueue.offer.banned_sites is 'The queue may list none of these sites.';
comment on column taskqueue.offer.banned_grid_ces is 'The queue may list none of these CEs.';
comment on column taskqueue.offer.banned_platforms is 'The queue may list none of these platforms.';
comment on column taskqueue.offer.banned_job_types is 'The queue may list none of these job types.';
comment on column taskqueue.offer.banned_tags is 'The queue may list none of these tags.';
comment on column taskqueue.offer.max_ram is 'Memory offered, MB; null = not said.';
comment on column taskqueue.offer.job_id is 'Only this job; null = any.';
comment on column taskqueue.offer.limited is 'Whether the site has limits.';
comment on column taskqueue.offer.reached is 'Limits of the site that are reached.';

create type taskqueue.stream as (
  number integer,
  seed bigint,
  entry integer,
  points integer,
  above double precision,
  task_queue_id bigint,
  definition_id bigint,
  turn bigint,
  jobs bigint,
  job_id bigint,
  user_priority smallint,
  attempt text
);
comment on type taskqueue.stream is 'The draws of one job of a batch, and how far they are (section 5).';
comment on column taskqueue.stream.number is 'The how-manieth job of the batch it is.';
comment on column taskqueue.stream.seed is 'Seed of its draws.';
comment on column taskqueue.stream.entry is
  'Number of the CPU bucket in which a queue is drawn; 0 = all buckets are through.';
comment on column taskqueue.stream.points is 'Points drawn in that bucket (taskqueue.queue_point).';
comment on column taskqueue.stream.above is 'Key of the last point.';
comment on column taskqueue.stream.task_queue_id is
  'Queue that was drawn, of which a job is to be picked; null = none yet.';
comment on column taskqueue.stream.definition_id is 'Definition of that queue.';
comment on column taskqueue.stream.turn is 'The how-manieth of the batch to pick a job of that queue.';
comment on column taskqueue.stream.jobs is 'Jobs of that queue when its turn had come, the one picked included.';
comment on column taskqueue.stream.job_id is 'Job that was leased; null = none yet.';
comment on column taskqueue.stream.user_priority is 'Its user priority.';
comment on column taskqueue.stream.attempt is 'Its attempt, as the agent presents it.';

create table taskqueue.cpu_bucket (
  setup text not null,
  cpu_time bigint not null,
  constraint cpu_bucket_pkey primary key (setup, cpu_time),
  constraint cpu_bucket_cpu_time_check check (cpu_time > 0),
  constraint cpu_bucket_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.cpu_bucket is
  'CPU buckets: a queue''s CPU time is rounded up to the next one (seed 004: 500, 5000, 50000, 300000).';
comment on column taskqueue.cpu_bucket.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.cpu_bucket.cpu_time is 'Upper edge of the bucket, seconds (DIRAC: normalised CPU work).';

create table taskqueue.definition (
  setup text not null,
  definition_id bigint generated always as identity not null,
  digest uuid not null,
  family uuid not null,
  requirements jsonb not null,
  owner_dn text not null,
  owner_group text not null,
  cpu_time bigint not null,
  min_ram double precision,
  pilot_types text[] not null,
  sites text[] not null,
  banned_sites text[] not null,
  grid_ces text[] not null,
  platforms text[] not null,
  job_types text[] not null,
  tags text[] not null,
  created_at timestamp with time zone default now() not null,
  made_in xid8 default pg_current_xact_id() not null,
  demands integer generated always as ((((1 | case when min_ram is null then 0 else 2 end) | case when pilot_types =
    '{}'::text[] then 0 else 4 end) | case when job_types = '{}'::text[] then 0 else 8 end) | case when grid_ces =
    '{}'::text[] then 0 else 16 end) stored not null,
  constraint definition_pkey primary key (setup, definition_id),
  constraint definition_once unique (setup, digest),
  constraint definition_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
) with (toast_tuple_target=8160);
alter table taskqueue.definition alter column setup set (n_distinct=1);
create index definition_family on taskqueue.definition (setup, family);
create index definition_made_in on taskqueue.definition (setup, made_in);
create index definition_owner on taskqueue.definition (setup, owner_group, owner_dn);
comment on table taskqueue.definition is
  'The distinct requirements, shared by the TaskQueues that have them and by leases. Derived from the requirement '
  'tables (taskqueue.rebuild_matching makes it anew, taskqueue.check_matching compares); what matching compares.';
comment on column taskqueue.definition.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.definition.definition_id is 'Definition.';
comment on column taskqueue.definition.digest is 'md5 of the canonical requirements.';
comment on column taskqueue.definition.family is
  'md5 of the requirements without Sites, BannedSites, MinRAM and MaxRAM (section 9).';
comment on column taskqueue.definition.requirements is
  'Canonical requirements with DIRAC''s keys: CPUTime as its bucket, lists sorted and without duplicates, no empty '
  'list.';
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
  'Bits: 1 always, 2 MinRAM, 4 PilotTypes, 8 JobTypes, 16 GridCEs asked for; see taskqueue.known_offer.tests.';

create table taskqueue.ended (
  setup text not null,
  job_id bigint not null,
  attempts integer not null,
  token uuid,
  task_queue_id bigint not null,
  outcome text not null,
  ended_at timestamp with time zone not null,
  constraint ended_pkey primary key (setup, job_id)
);
alter table taskqueue.ended alter column setup set (n_distinct=1);
create index ended_at on taskqueue.ended (setup, ended_at);
comment on table taskqueue.ended is 'Ended jobs, until taskqueue.forget_ended. An ended id may be inserted again.';
comment on column taskqueue.ended.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.ended.job_id is 'Job id, the same in every schema of the setup.';
comment on column taskqueue.ended.attempts is 'How often it was matched.';
comment on column taskqueue.ended.token is 'Token of the last attempt; null = never matched.';
comment on column taskqueue.ended.task_queue_id is 'Queue it was last in.';
comment on column taskqueue.ended.outcome is 'finished, failed, cancelled or closed (PanDA''s words).';
comment on column taskqueue.ended.ended_at is 'When it ended.';

create table taskqueue.held_owner (
  setup text not null,
  owner_dn text not null,
  held_at timestamp with time zone not null,
  constraint held_owner_pkey primary key (setup, owner_dn),
  constraint held_owner_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.held_owner is 'Owners whose queues are held.';
comment on column taskqueue.held_owner.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.held_owner.owner_dn is 'Owner.';
comment on column taskqueue.held_owner.held_at is 'Since when.';

create table taskqueue.history (
  setup text not null,
  at timestamp with time zone not null,
  job_id bigint not null,
  attempt integer not null,
  event text not null,
  task_queue_id bigint not null,
  definition_id bigint,
  cpu_time bigint,
  owner_group text,
  owner_dn text,
  user_priority smallint,
  site text,
  grid_ce text,
  role_name text not null
) partition by range (at);
create index history_job on taskqueue.history (setup, job_id, at);
comment on table taskqueue.history is
  'What happened to jobs, one row an event, partitioned by day. A match is written when its lease ends '
  '(taskqueue.match).';
comment on column taskqueue.history.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.history.at is 'When.';
comment on column taskqueue.history.job_id is 'Job id, the same in every schema of the setup.';
comment on column taskqueue.history.attempt is 'Attempt number; 0 = never matched.';
comment on column taskqueue.history.event is
  'matched, running, released, kill asked, finished, failed, cancelled or closed.';
comment on column taskqueue.history.task_queue_id is 'TaskQueue.';
comment on column taskqueue.history.definition_id is 'Requirements.';
comment on column taskqueue.history.cpu_time is 'CPU bucket, seconds; of matches.';
comment on column taskqueue.history.owner_group is 'Owner group; of matches.';
comment on column taskqueue.history.owner_dn is 'Owner; of matches.';
comment on column taskqueue.history.user_priority is 'User priority 0..10; 0 is background.';
comment on column taskqueue.history.site is 'Site of the lease.';
comment on column taskqueue.history.grid_ce is 'Computing element of the lease.';
comment on column taskqueue.history.role_name is 'Database role that caused it.';

create table taskqueue.history_default partition of taskqueue.history default;

create table taskqueue.job (
  setup text not null,
  job_id bigint not null,
  task_queue_id bigint not null,
  user_priority smallint not null,
  held boolean default false not null,
  attempts integer default 0 not null,
  inserted_at timestamp with time zone not null,
  brokered boolean default false not null,
  constraint job_pkey primary key (setup, job_id),
  constraint job_job_id_check check (job_id > 0),
  constraint job_user_priority_check check (user_priority >= 0 and user_priority <= 10),
  constraint job_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references taskqueue.task_queue(setup,
    task_queue_id)
) with (fillfactor=100, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
alter table taskqueue.job alter column setup set (n_distinct=1);
create index job_order on taskqueue.job (setup, task_queue_id, held, user_priority, job_id);
comment on table taskqueue.job is 'Waiting jobs.';
comment on column taskqueue.job.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.job.job_id is 'Job id, the same in every schema of the setup.';
comment on column taskqueue.job.task_queue_id is 'TaskQueue it waits in.';
comment on column taskqueue.job.user_priority is 'User priority 0..10; 0 is background.';
comment on column taskqueue.job.held is 'True: not matched until it is resumed.';
comment on column taskqueue.job.attempts is 'How often it was matched before.';
comment on column taskqueue.job.inserted_at is 'Since when it waits.';
comment on column taskqueue.job.brokered is
  'It is a job of workload.job, whose status follows what becomes of it here.';

create table taskqueue.job_count (
  setup text not null,
  task_queue_id bigint not null,
  known_to xid8 not null,
  count_id bigint generated always as identity not null,
  jobs bigint[] not null,
  first_ids bigint[] not null,
  in_flight xid8[] not null,
  constraint job_count_pkey primary key (setup, task_queue_id, known_to, count_id),
  constraint job_count_first_ids_check check (cardinality(first_ids) = 11),
  constraint job_count_jobs_check check (cardinality(jobs) = 11)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
alter table taskqueue.job_count alter column setup set (n_distinct=1);
comment on table taskqueue.job_count is
  'Waiting jobs that are not held, by queue and user priority, as of a snapshot; the newest of a queue counts, '
  'job_count_change is added to it (taskqueue.job_level). Appended, never updated, so that a match reads one however '
  'many there were. Derived from job.';
comment on column taskqueue.job_count.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.job_count.task_queue_id is 'TaskQueue.';
comment on column taskqueue.job_count.known_to is 'Changes made in this transaction or later are not counted here,';
comment on column taskqueue.job_count.count_id is 'Tells counts with the same snapshot apart.';
comment on column taskqueue.job_count.jobs is 'Jobs with user priority 0, 1, .. 10.';
comment on column taskqueue.job_count.first_ids is
  'Of each user priority, no job known here has a lower id; null = there was none. A match looks from there on, not '
  'through what was taken before.';
comment on column taskqueue.job_count.in_flight is 'nor those of these transactions.';

create table taskqueue.job_count_change (
  setup text not null,
  task_queue_id bigint not null,
  made_in xid8 default pg_current_xact_id() not null,
  user_priority smallint not null,
  change bigint not null,
  first_id bigint
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
alter table taskqueue.job_count_change alter column setup set (n_distinct=1);
create index job_count_change_queue on taskqueue.job_count_change (setup, task_queue_id, made_in);
comment on table taskqueue.job_count_change is
  'Changes of the waiting jobs of a queue, appended so that no agent waits for another on a counter; counted by '
  'taskqueue.fold_counts.';
comment on column taskqueue.job_count_change.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.job_count_change.task_queue_id is 'TaskQueue.';
comment on column taskqueue.job_count_change.made_in is 'Transaction that wrote the row.';
comment on column taskqueue.job_count_change.user_priority is 'User priority 0..10; 0 is background.';
comment on column taskqueue.job_count_change.change is 'Jobs added (taken, when negative).';
comment on column taskqueue.job_count_change.first_id is 'Lowest id of the jobs added; null = none added.';

create table taskqueue.job_count_horizon (
  setup text not null,
  finished xid8 not null,
  started xid8 not null,
  constraint job_count_horizon_pkey primary key (setup),
  constraint job_count_horizon_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.job_count_horizon is
  'How far transactions had come when taskqueue.maintain last looked: counted changes of transactions that had '
  'finished then may go when all that had started then have finished.';
comment on column taskqueue.job_count_horizon.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.job_count_horizon.finished is 'All transactions before this one had finished.';
comment on column taskqueue.job_count_horizon.started is 'No transaction from this one on had started.';

create unlogged table taskqueue.known_offer (
  setup text not null,
  digest bigint not null,
  resource jsonb not null,
  offer taskqueue.offer not null,
  tests integer not null,
  cpu_buckets double precision[] not null,
  ten_first boolean not null,
  policy text not null,
  lease_time interval not null,
  seen_at timestamp with time zone,
  seen bigint[] default '{}'::bigint[] not null,
  matching bigint[] storage external,
  matched_at timestamp with time zone,
  known_to xid8,
  in_flight xid8[]
) with (fillfactor=70);
alter table taskqueue.known_offer alter column setup set (n_distinct=1);
create index known_offer_digest on taskqueue.known_offer (setup, digest);
comment on table taskqueue.known_offer is
  'Resource descriptions as they were parsed, so that a resource that asks again is known; unlogged, forgotten when a '
  'configuration changes (taskqueue.forget_offers) and when unseen for ten minutes.';
comment on column taskqueue.known_offer.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.known_offer.digest is 'Hash of the description.';
comment on column taskqueue.known_offer.resource is
  'The description without CPUTime and JobID, with the owner of a private identity.';
comment on column taskqueue.known_offer.offer is 'What it offers.';
comment on column taskqueue.known_offer.tests is
  'Which demands of a definition (its bits) this offer may not meet, Site, BannedSites, Platform and Tag aside; bit 1:'
  ' all conditions are to be tested.';
comment on column taskqueue.known_offer.cpu_buckets is 'CPU buckets of the setup, ascending.';
comment on column taskqueue.known_offer.ten_first is 'Setting of the setup.';
comment on column taskqueue.known_offer.policy is 'Setting of the setup.';
comment on column taskqueue.known_offer.lease_time is 'Setting of the setup.';
comment on column taskqueue.known_offer.seen_at is 'When taskqueue.see_resource last noted it.';
comment on column taskqueue.known_offer.seen is 'CPU buckets with which it was noted.';
comment on column taskqueue.known_offer.matching is
  'Definitions that match it whatever its CPUTime, where they are few; null = not known, or many.';
comment on column taskqueue.known_offer.matched_at is 'When matching was found out.';
comment on column taskqueue.known_offer.known_to is
  'Definitions made in this transaction or later are not in matching yet,';
comment on column taskqueue.known_offer.in_flight is 'nor those of these transactions.';

create table taskqueue.lease (
  setup text not null,
  job_id bigint not null,
  attempt integer not null,
  token uuid not null,
  task_queue_id bigint not null,
  definition_id bigint not null,
  user_priority smallint not null,
  state text default 'matched'::text not null,
  site text,
  grid_ce text,
  role_name text not null,
  matched_at timestamp with time zone not null,
  reported_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  kill_reason text,
  brokered boolean default false not null,
  constraint lease_pkey primary key (setup, job_id)
);
alter table taskqueue.lease alter column setup set (n_distinct=1);
create index lease_matched on taskqueue.lease (setup, matched_at) where (state = 'matched'::text);
comment on table taskqueue.lease is
  'Matched jobs that have not ended: who has the job, since when, and the token that later calls must present.';
comment on column taskqueue.lease.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.lease.job_id is 'Job id, the same in every schema of the setup.';
comment on column taskqueue.lease.attempt is 'Number of this match of the job, from 1.';
comment on column taskqueue.lease.token is 'Random secret of this attempt.';
comment on column taskqueue.lease.task_queue_id is 'Queue it was taken from.';
comment on column taskqueue.lease.definition_id is 'Requirements it was taken with.';
comment on column taskqueue.lease.user_priority is 'User priority 0..10; 0 is background.';
comment on column taskqueue.lease.state is 'matched: no report yet; running: the agent reported.';
comment on column taskqueue.lease.site is 'Site that took it; null = the resource named none.';
comment on column taskqueue.lease.grid_ce is 'Computing element that took it; null = none named.';
comment on column taskqueue.lease.role_name is 'Database role of the agent.';
comment on column taskqueue.lease.matched_at is 'When it was matched.';
comment on column taskqueue.lease.reported_at is 'Last report.';
comment on column taskqueue.lease.expires_at is 'Until when the next report is awaited.';
comment on column taskqueue.lease.kill_reason is 'Not null: the agent is told to kill the job, and why.';
comment on column taskqueue.lease.brokered is
  'It is a job of workload.job, whose status follows what becomes of it here.';

create table taskqueue.limit_slot (
  setup text not null,
  limit_id bigint not null,
  slot integer not null,
  constraint limit_slot_pkey primary key (setup, limit_id, slot),
  constraint limit_slot_slot_check check (slot <> 0)
);
alter table taskqueue.limit_slot alter column setup set (n_distinct=1);
comment on table taskqueue.limit_slot is
  'Free slots of running limits: a match takes one with SKIP LOCKED, so that a limit is exact and nobody waits.';
comment on column taskqueue.limit_slot.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.limit_slot.limit_id is 'Limit.';
comment on column taskqueue.limit_slot.slot is
  'Number of the slot; negative: not a slot, but one too many since the limit was lowered, to go with a free one.';

create table taskqueue.limit_use (
  setup text not null,
  job_id bigint not null,
  limit_id bigint not null,
  slot integer not null,
  constraint limit_use_pkey primary key (setup, job_id, limit_id),
  constraint limit_use_once unique (setup, limit_id, slot),
  constraint limit_use_slot_check check (slot > 0)
);
alter table taskqueue.limit_use alter column setup set (n_distinct=1);
comment on table taskqueue.limit_use is
  'Slots of running limits that leased jobs hold; never the row that a match looks for, so that a job ends without '
  'waiting.';
comment on column taskqueue.limit_use.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.limit_use.job_id is 'Job id, the same in every schema of the setup.';
comment on column taskqueue.limit_use.limit_id is 'Limit that the job counts at.';
comment on column taskqueue.limit_use.slot is 'Number of the slot.';

create table taskqueue.owner_group (
  setup text not null,
  owner_group text not null,
  share double precision default 1000 not null,
  job_sharing boolean default false not null,
  allow_background boolean default false not null,
  constraint owner_group_pkey primary key (setup, owner_group),
  constraint owner_group_owner_group_check check (owner_group <> ''::text),
  constraint owner_group_share_check check (share > 0::double precision and share < 'Infinity'::double precision),
  constraint owner_group_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.owner_group is
  'Owner groups with their share and properties (section 9). A group without a row has the defaults.';
comment on column taskqueue.owner_group.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.owner_group.owner_group is 'Group used for the submission.';
comment on column taskqueue.owner_group.share is 'Share of the group, any unit; default 1000.';
comment on column taskqueue.owner_group.job_sharing is
  'Property JobSharing: one entity for shares, and private pilots of the group run everybody''s jobs.';
comment on column taskqueue.owner_group.allow_background is
  'Queues with a mean draw weight of at most 0.1 get the priority 0.001 and take nothing from the share.';

create table taskqueue.owner_weight (
  setup text not null,
  owner_group text not null,
  owner_dn text not null,
  light boolean not null,
  queues bigint not null,
  weight numeric not null
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
alter table taskqueue.owner_weight alter column setup set (n_distinct=1);
create index owner_weight_owner on taskqueue.owner_weight (setup, owner_group, owner_dn);
comment on table taskqueue.owner_weight is
  'How many queues an owner has, and the sum of their mean weights: the sums over the rows. A queue that comes, goes '
  'or weighs otherwise appends a row in the same transaction; taskqueue.fold_weights makes them few again. Derived '
  'from task_queue.mean_weight.';
comment on column taskqueue.owner_weight.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.owner_weight.owner_group is 'OwnerGroup of the queues.';
comment on column taskqueue.owner_weight.owner_dn is 'OwnerDN of the queues.';
comment on column taskqueue.owner_weight.light is
  'Queues of a mean draw weight of at most 0.1: background where the group allows it (section 9).';
comment on column taskqueue.owner_weight.queues is 'Queues, or how many more or fewer there are.';
comment on column taskqueue.owner_weight.weight is
  'Sum of their mean draw weights, or the change of it; numeric, so that what goes takes away exactly what came.';

create table taskqueue.platform_compatibility (
  setup text not null,
  offered text not null,
  accepted text not null,
  constraint platform_compatibility_pkey primary key (setup, offered, accepted),
  constraint platform_compatibility_accepted_check check (accepted <> ''::text),
  constraint platform_compatibility_offered_check check (offered <> ''::text),
  constraint platform_compatibility_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.platform_compatibility is
  'Compatible platforms: a resource that offers the one also offers the other.';
comment on column taskqueue.platform_compatibility.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.platform_compatibility.offered is 'Platform named by a resource.';
comment on column taskqueue.platform_compatibility.accepted is 'Platform that it therefore also offers.';

create table taskqueue.posting (
  setup text not null,
  list_id bigint not null,
  band integer not null,
  place integer not null,
  task_queue_id bigint not null,
  constraint posting_pkey primary key (setup, list_id, band, place),
  constraint posting_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references taskqueue.task_queue(setup,
    task_queue_id) on delete cascade
);
alter table taskqueue.posting alter column setup set (n_distinct=1);
create index posting_task_queue on taskqueue.posting (setup, task_queue_id);
comment on table taskqueue.posting is
  'Which queue is at a place of a list. Derived from task_queue and its requirement tables.';
comment on column taskqueue.posting.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.posting.list_id is 'List.';
comment on column taskqueue.posting.band is 'Band of the list.';
comment on column taskqueue.posting.place is 'Place in the band, from 1.';
comment on column taskqueue.posting.task_queue_id is 'TaskQueue.';

create table taskqueue.posting_list (
  setup text not null,
  site text not null,
  cpu_time bigint not null,
  list_id bigint generated always as identity not null,
  bands integer[] default '{}'::integer[] not null,
  places integer[] default '{}'::integer[] not null,
  ceilings double precision[] default '{}'::double precision[] not null,
  sums double precision[] default '{}'::double precision[] not null,
  rate double precision default 0 not null,
  top double precision default 0 not null,
  room bigint default 0 not null,
  constraint posting_list_pkey primary key (setup, site, cpu_time),
  constraint posting_list_id unique (setup, list_id),
  constraint posting_list_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
) with (fillfactor=50, autovacuum_analyze_threshold=10);
alter table taskqueue.posting_list alter column setup set (n_distinct=1);
comment on table taskqueue.posting_list is
  'Lists of the open queues that a site may see, by CPU bucket; what matching draws from (taskqueue.queue_point). Each'
  ' is kept in bands of about the same priority. Derived from task_queue and its requirement tables.';
comment on column taskqueue.posting_list.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.posting_list.site is
  'A site that the queues list and do not ban; ''*'' = they list no site; '''' = every open queue, for resources '
  'without a site.';
comment on column taskqueue.posting_list.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.posting_list.list_id is 'List.';
comment on column taskqueue.posting_list.bands is
  'Its bands, ascending: band b holds priorities of at most taskqueue.ceiling_of_band(b), and above that of band b - '
  '1.';
comment on column taskqueue.posting_list.places is
  'Places of each band, from 1; those of queues that have gone are empty until taskqueue.maintain closes the gaps.';
comment on column taskqueue.posting_list.ceilings is 'taskqueue.ceiling_of_band of each band.';
comment on column taskqueue.posting_list.sums is 'Running sum of places times ceiling, band by band.';
comment on column taskqueue.posting_list.rate is 'The last of the sums.';
comment on column taskqueue.posting_list.top is 'The highest ceiling.';
comment on column taskqueue.posting_list.room is 'All its places.';

create table taskqueue.request (
  setup text not null,
  role_name text not null,
  request_id uuid not null,
  call text not null,
  asked uuid not null,
  answer jsonb not null,
  made_at timestamp with time zone not null,
  constraint request_pkey primary key (setup, role_name, request_id)
);
alter table taskqueue.request alter column setup set (n_distinct=1);
comment on table taskqueue.request is
  'Answers of calls that carried a request id, for ten minutes: the same call repeated gets the same answer.';
comment on column taskqueue.request.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.request.role_name is 'Database role that asked.';
comment on column taskqueue.request.request_id is 'Chosen by the client.';
comment on column taskqueue.request.call is 'Function called.';
comment on column taskqueue.request.asked is 'md5 of the arguments.';
comment on column taskqueue.request.answer is 'Its answer.';
comment on column taskqueue.request.made_at is 'When.';

create table taskqueue.resource_class (
  setup text not null,
  class uuid not null,
  resource jsonb not null,
  first_seen timestamp with time zone not null,
  last_seen timestamp with time zone not null,
  samples bigint not null,
  matched bigint not null,
  constraint resource_class_pkey primary key (setup, class),
  constraint resource_class_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.resource_class is 'Classes of resources seen, at most 10,000 a setup, the ones seen last.';
comment on column taskqueue.resource_class.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.resource_class.class is 'Class.';
comment on column taskqueue.resource_class.resource is 'Canonical description.';
comment on column taskqueue.resource_class.first_seen is 'First seen.';
comment on column taskqueue.resource_class.last_seen is 'Last seen.';
comment on column taskqueue.resource_class.samples is 'Ten-second windows in which it asked, a sample.';
comment on column taskqueue.resource_class.matched is 'Those of them whose sampled request got a job.';

create unlogged table taskqueue.resource_seen (
  setup text not null,
  class uuid not null,
  seen_at timestamp with time zone not null,
  matched boolean not null,
  resource jsonb not null
);
alter table taskqueue.resource_seen alter column setup set (n_distinct=1);
create index resource_seen_class on taskqueue.resource_seen (setup, class, seen_at desc);
comment on table taskqueue.resource_seen is
  'Resource descriptions as they came, a sample, at most one row per class in ten seconds; unlogged, rolled up by '
  'taskqueue.maintain.';
comment on column taskqueue.resource_seen.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.resource_seen.class is
  'md5 of the canonical description, CPUTime as bucket, without JobID.';
comment on column taskqueue.resource_seen.seen_at is 'When.';
comment on column taskqueue.resource_seen.matched is 'Whether the sampled request got a job.';
comment on column taskqueue.resource_seen.resource is 'Canonical description.';

create table taskqueue.setting (
  setup text not null,
  ten_first boolean default false not null,
  strict_keys text[] default '{}'::text[] not null,
  required_keys text[] default '{CPUTime}'::text[] not null,
  queue_size integer default 5000 not null,
  policy text default 'dirac'::text not null,
  lease_time interval default '00:30:00'::interval not null,
  share_delay interval default '00:00:10'::interval not null,
  share_correction boolean default false not null,
  correction_window interval default '7 days'::interval not null,
  history_kept interval default '30 days'::interval not null,
  heartbeat_time interval default '02:00:00'::interval not null,
  attempts integer default 3 not null,
  shares text default 'groups'::text not null,
  constraint setting_pkey primary key (setup),
  constraint setting_attempts_check check (attempts > 0),
  constraint setting_correction_window_check check (correction_window > '00:00:00'::interval and correction_window <=
    '100 years'::interval),
  constraint setting_heartbeat_time_check check (heartbeat_time > '00:00:00'::interval and heartbeat_time <=
    '100 years'::interval),
  constraint setting_history_kept_check check (history_kept > '00:00:00'::interval and history_kept <=
    '100 years'::interval),
  constraint setting_lease_time_check check (lease_time > '00:00:00'::interval and lease_time <= '100 years'::interval),
  constraint setting_policy_check check (policy = any (array['dirac'::text, 'proportional'::text])),
  constraint setting_queue_size_check check (queue_size > 0),
  constraint setting_required_keys_check check (required_keys <@ array['OwnerDN'::text, 'OwnerGroup'::text,
    'CPUTime'::text, 'PilotType'::text, 'Site'::text, 'GridCE'::text, 'Platform'::text, 'JobType'::text, 'Tag'::text,
    'RequiredTag'::text, 'BannedSite'::text, 'BannedGridCE'::text, 'BannedPlatform'::text, 'BannedJobType'::text,
    'BannedTag'::text, 'MaxRAM'::text, 'NumberOfProcessors'::text, 'WholeNode'::text, 'JobID'::text, 'Setup'::text]),
  constraint setting_share_delay_check check (share_delay >= '00:00:00'::interval and share_delay <=
    '100 years'::interval),
  constraint setting_shares_check check (shares = any (array['groups'::text, 'global'::text])),
  constraint setting_strict_keys_check check (strict_keys <@ '{Site,GridCE,Platform,JobType}'::text[]),
  constraint setting_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.setting is 'Settings of matching, one row a setup (taskqueue.set_settings).';
comment on column taskqueue.setting.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.setting.ten_first is
  'Jobs with user priority 10 are drawn before all others, as DIRAC does today.';
comment on column taskqueue.setting.strict_keys is
  'Keys of a resource description whose absence counts as offering nothing.';
comment on column taskqueue.setting.required_keys is 'Keys without which a match request is refused.';
comment on column taskqueue.setting.queue_size is
  'Jobs that a TaskQueue takes before a sibling with the same definition opens.';
comment on column taskqueue.setting.policy is
  'How a TaskQueue is drawn: dirac orders by random()/priority, proportional by -ln(random())/priority.';
comment on column taskqueue.setting.lease_time is 'Time from the match to the first report of the JobAgent.';
comment on column taskqueue.setting.share_delay is
  'Within this time the other TaskQueues of an entity follow when a TaskQueue opens or goes.';
comment on column taskqueue.setting.share_correction is 'Correct shares by the usage in the history.';
comment on column taskqueue.setting.correction_window is 'How far back the correction of shares looks.';
comment on column taskqueue.setting.history_kept is
  'How long taskqueue.history and workload.job_history are kept; all setups share them, so the longest counts.';
comment on column taskqueue.setting.heartbeat_time is
  'A lease of a running job expires this long after the last heartbeat; the job then fails.';
comment on column taskqueue.setting.attempts is 'A job that was matched this often and never started fails.';
comment on column taskqueue.setting.shares is
  'What a group that is a leaf of the global shares gets: groups = the share of its owner group, DIRAC''s rule; global'
  ' = by how far the share is behind in the tree.';
comment on constraint setting_attempts_check on taskqueue.setting is 'at least 1';
comment on constraint setting_correction_window_check on taskqueue.setting is 'longer than 0, at most 100 years';
comment on constraint setting_heartbeat_time_check on taskqueue.setting is 'longer than 0, at most 100 years';
comment on constraint setting_history_kept_check on taskqueue.setting is 'longer than 0, at most 100 years';
comment on constraint setting_lease_time_check on taskqueue.setting is 'longer than 0, at most 100 years';
comment on constraint setting_policy_check on taskqueue.setting is 'dirac or proportional';
comment on constraint setting_queue_size_check on taskqueue.setting is 'at least 1';
comment on constraint setting_required_keys_check on taskqueue.setting is 'keys of a resource description';
comment on constraint setting_share_delay_check on taskqueue.setting is '0 or longer, at most 100 years';
comment on constraint setting_shares_check on taskqueue.setting is 'groups or global';
comment on constraint setting_strict_keys_check on taskqueue.setting is 'of Site, GridCE, Platform, JobType';

create table taskqueue.share_correction (
  setup text not null,
  owner_group text not null,
  owner_dn text not null,
  factor double precision not null,
  constraint share_correction_pkey primary key (setup, owner_group, owner_dn),
  constraint share_correction_factor_check check (factor >= 0::double precision and factor < 'Infinity'::double
    precision),
  constraint share_correction_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.share_correction is
  'Factors on the shares of groups: from the usage in the history where the setting share_correction is on (section '
  '9), from the tree of global shares where shares is global.';
comment on column taskqueue.share_correction.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.share_correction.owner_group is 'Group.';
comment on column taskqueue.share_correction.owner_dn is
  'Owner; empty = the whole group, one with JobSharing or a global share.';
comment on column taskqueue.share_correction.factor is
  'Expected share / used share, within 1/5..5; of a global share what it gets by the tree / the share of its group.';

create table taskqueue.share_mark (
  setup text not null,
  owner_group text not null,
  marked_at timestamp with time zone not null
);
create index share_mark_group on taskqueue.share_mark (setup, owner_group);
comment on table taskqueue.share_mark is
  'Groups whose priorities are to be recomputed; appended, and eaten by taskqueue.maintain.';
comment on column taskqueue.share_mark.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.share_mark.owner_group is 'Group.';
comment on column taskqueue.share_mark.marked_at is 'When its queues changed.';

create table taskqueue.site_limit (
  setup text not null,
  limit_id bigint generated always as identity not null,
  kind text not null,
  site text not null,
  grid_ce text,
  attribute text not null,
  value text not null,
  ceiling integer,
  delay interval,
  burst integer,
  next_at timestamp with time zone,
  constraint site_limit_pkey primary key (setup, limit_id),
  constraint site_limit_once unique nulls not distinct (setup, site, grid_ce, kind, attribute, value),
  constraint site_limit_burst_check check (burst > 0),
  constraint site_limit_ceiling_check check (ceiling >= 0),
  constraint site_limit_delay_check check (delay >= '00:00:00'::interval),
  constraint site_limit_grid_ce_check check (grid_ce <> ''::text),
  constraint site_limit_kind check ( case kind when 'running'::text then ceiling is not null and delay is null else
    ceiling is null and delay is not null and burst is not null end),
  constraint site_limit_kind_check check (kind = any (array['running'::text, 'delay'::text])),
  constraint site_limit_site_check check (site <> ''::text),
  constraint site_limit_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table taskqueue.site_limit is 'Limits per site, optionally per CE, on a value of a requirement (section 7).';
comment on column taskqueue.site_limit.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.site_limit.limit_id is 'Limit.';
comment on column taskqueue.site_limit.kind is 'running: jobs there at a time; delay: time between two matches.';
comment on column taskqueue.site_limit.site is 'Site.';
comment on column taskqueue.site_limit.grid_ce is 'Computing element; null = the whole site.';
comment on column taskqueue.site_limit.attribute is 'Requirement key.';
comment on column taskqueue.site_limit.value is 'Value of that key; a job counts at every value that its queue lists.';
comment on column taskqueue.site_limit.ceiling is 'Jobs at a time; kind running.';
comment on column taskqueue.site_limit.delay is 'Time between two matches; kind delay.';
comment on column taskqueue.site_limit.burst is 'Matches that may come at once after a pause; kind delay.';
comment on column taskqueue.site_limit.next_at is 'Token bucket as a clock: when it is full again; kind delay.';

create table taskqueue.task_queue (
  setup text not null,
  task_queue_id bigint generated always as identity not null,
  definition_id bigint not null,
  owner_dn text not null,
  owner_group text not null,
  cpu_time bigint not null,
  min_ram double precision,
  max_ram double precision,
  priority double precision not null,
  mean_weight double precision not null,
  enabled boolean default true not null,
  held boolean default false not null,
  posted boolean default false not null,
  created_at timestamp with time zone default now() not null,
  constraint task_queue_pkey primary key (setup, task_queue_id),
  constraint task_queue_cpu_time_check check (cpu_time > 0),
  constraint task_queue_max_ram_check check (max_ram >= 0::double precision),
  constraint task_queue_mean_weight_check check (mean_weight > 0::double precision),
  constraint task_queue_min_ram_check check (min_ram >= 0::double precision),
  constraint task_queue_owner_dn_check check (owner_dn <> ''::text),
  constraint task_queue_owner_group_check check (owner_group <> ''::text),
  constraint task_queue_priority_check check (priority > 0::double precision and priority < 'Infinity'::double
    precision),
  constraint task_queue_ram check (min_ram <= max_ram),
  constraint task_queue_setup_definition_id_fkey foreign key (setup, definition_id) references
    taskqueue.definition(setup, definition_id),
  constraint task_queue_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
alter table taskqueue.task_queue alter column setup set (n_distinct=1);
create index task_queue_definition on taskqueue.task_queue (setup, definition_id, task_queue_id desc);
create index task_queue_owner on taskqueue.task_queue (setup, owner_group, owner_dn);
comment on table taskqueue.task_queue is
  'TaskQueues: all waiting jobs with identical requirements, about queue_size at most; the unit of matching (seed '
  '004). Columns hold the requirements with one value, the tables task_queue_* those with many; these are the truth.';
comment on column taskqueue.task_queue.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue.definition_id is 'Its requirements as one row, shared with its siblings.';
comment on column taskqueue.task_queue.owner_dn is 'OwnerDN: who submitted the jobs.';
comment on column taskqueue.task_queue.owner_group is 'OwnerGroup: group used for the submission.';
comment on column taskqueue.task_queue.cpu_time is 'Required CPU time, seconds; a trigger rounds it up to its bucket.';
comment on column taskqueue.task_queue.min_ram is 'MinRAM that the resource must offer, MB; null = none asked.';
comment on column taskqueue.task_queue.max_ram is 'MaxRAM, MB; null = none.';
comment on column taskqueue.task_queue.priority is
  'Share of its entity (section 9); the draw is random()/priority, the smallest wins.';
comment on column taskqueue.task_queue.mean_weight is
  'Mean draw weight of its jobs (tp of section 9) when its priority was computed.';
comment on column taskqueue.task_queue.enabled is 'False: an operator took it out of matching.';
comment on column taskqueue.task_queue.held is 'True: held by an operator.';
comment on column taskqueue.task_queue.posted is
  'Whether it is open: enabled, and neither it nor its owner held; exactly then it has postings.';
comment on column taskqueue.task_queue.created_at is 'When it was opened.';

create table taskqueue.task_queue_banned_site (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_banned_site_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_banned_site_value_check check (value <> ''::text),
  constraint task_queue_banned_site_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_banned_site_value on taskqueue.task_queue_banned_site (setup, value);
comment on table taskqueue.task_queue_banned_site is
  'Requirement of TaskQueues, one row a value. Site that may not run the jobs.';
comment on column taskqueue.task_queue_banned_site.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_banned_site.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_banned_site.value is 'Site that may not run the jobs.';

create table taskqueue.task_queue_grid_ce (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_grid_ce_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_grid_ce_value_check check (value <> ''::text),
  constraint task_queue_grid_ce_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_grid_ce_value on taskqueue.task_queue_grid_ce (setup, value);
comment on table taskqueue.task_queue_grid_ce is
  'Requirement of TaskQueues, one row a value. Computing element that may run the jobs; no row = any.';
comment on column taskqueue.task_queue_grid_ce.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_grid_ce.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_grid_ce.value is 'Computing element that may run the jobs; no row = any.';

create table taskqueue.task_queue_grid_middleware (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_grid_middleware_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_grid_middleware_value_check check (value <> ''::text),
  constraint task_queue_grid_middleware_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_grid_middleware_value on taskqueue.task_queue_grid_middleware (setup, value);
comment on table taskqueue.task_queue_grid_middleware is
  'Requirement of TaskQueues, one row a value. Grid middleware of the pilots; read by pilot submission, never by '
  'matching.';
comment on column taskqueue.task_queue_grid_middleware.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_grid_middleware.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_grid_middleware.value is
  'Grid middleware of the pilots; read by pilot submission, never by matching.';

create table taskqueue.task_queue_job_type (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_job_type_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_job_type_value_check check (value <> ''::text),
  constraint task_queue_job_type_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_job_type_value on taskqueue.task_queue_job_type (setup, value);
comment on table taskqueue.task_queue_job_type is
  'Requirement of TaskQueues, one row a value. Type of the jobs; no row = any.';
comment on column taskqueue.task_queue_job_type.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_job_type.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_job_type.value is 'Type of the jobs; no row = any.';

create table taskqueue.task_queue_pilot_type (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_pilot_type_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_pilot_type_value_check check (value <> ''::text),
  constraint task_queue_pilot_type_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_pilot_type_value on taskqueue.task_queue_pilot_type (setup, value);
comment on table taskqueue.task_queue_pilot_type is
  'Requirement of TaskQueues, one row a value. Pilot type that may run the jobs (private, or nothing).';
comment on column taskqueue.task_queue_pilot_type.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_pilot_type.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_pilot_type.value is 'Pilot type that may run the jobs (private, or nothing).';

create table taskqueue.task_queue_platform (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_platform_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_platform_value_check check (value <> ''::text),
  constraint task_queue_platform_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_platform_value on taskqueue.task_queue_platform (setup, value);
comment on table taskqueue.task_queue_platform is
  'Requirement of TaskQueues, one row a value. Platform that may run the jobs; no row = any.';
comment on column taskqueue.task_queue_platform.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_platform.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_platform.value is 'Platform that may run the jobs; no row = any.';

create table taskqueue.task_queue_site (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_site_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_site_value_check check (value <> ''::text),
  constraint task_queue_site_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_site_value on taskqueue.task_queue_site (setup, value);
comment on table taskqueue.task_queue_site is
  'Requirement of TaskQueues, one row a value. Site that may run the jobs; no row = any site.';
comment on column taskqueue.task_queue_site.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_site.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_site.value is 'Site that may run the jobs; no row = any site.';

create table taskqueue.task_queue_submit_pool (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_submit_pool_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_submit_pool_value_check check (value <> ''::text),
  constraint task_queue_submit_pool_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_submit_pool_value on taskqueue.task_queue_submit_pool (setup, value);
comment on table taskqueue.task_queue_submit_pool is
  'Requirement of TaskQueues, one row a value. Pool used to submit pilots for the jobs; read by pilot submission, '
  'never by matching.';
comment on column taskqueue.task_queue_submit_pool.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_submit_pool.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_submit_pool.value is
  'Pool used to submit pilots for the jobs; read by pilot submission, never by matching.';

create table taskqueue.task_queue_tag (
  setup text not null,
  task_queue_id bigint not null,
  value text not null,
  constraint task_queue_tag_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_tag_value_check check (value <> ''::text),
  constraint task_queue_tag_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_tag_value on taskqueue.task_queue_tag (setup, value);
comment on table taskqueue.task_queue_tag is
  'Requirement of TaskQueues, one row a value. Tag that the resource must offer.';
comment on column taskqueue.task_queue_tag.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.task_queue_tag.task_queue_id is 'TaskQueue.';
comment on column taskqueue.task_queue_tag.value is 'Tag that the resource must offer.';

create table taskqueue.unposted (
  setup text not null,
  task_queue_id bigint not null
);
alter table taskqueue.unposted alter column setup set (n_distinct=1);
create index unposted_setup on taskqueue.unposted (setup, task_queue_id);
comment on table taskqueue.unposted is
  'Queues that were opened while somebody else worked on their lists: posted by the next match that finds nothing '
  'else, by one match in sixteen, or by taskqueue.maintain.';
comment on column taskqueue.unposted.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column taskqueue.unposted.task_queue_id is 'TaskQueue.';
