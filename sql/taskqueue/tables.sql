-- Tables, types and sequences of the schema taskqueue, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

-- The answer to a match.
create type taskqueue.leased as (
  job_id bigint,  -- Job id, the same in every schema of the setup.
  task_queue_id bigint,  -- TaskQueue it was taken from.
  requirements jsonb,  -- Its requirements, canonical.
  user_priority integer,  -- User priority 0..10; 0 is background.
  attempt text  -- Attempt for the later calls about the job: number, hyphen, token.
);

-- A resource description, parsed and checked: what a JobAgent offers (section 4).
create type taskqueue.offer as (
  owner_dn text,  -- Private pilot: the only owner it serves; null = by group, or generic.
  owner_groups text[],  -- Private pilot: the groups it serves; null = no condition by group.
  sharing_groups text[],  -- Those of owner_groups that have the property JobSharing.
  cpu_time bigint,  -- CPU time offered, seconds.
  sites text[],  -- Sites; null = no condition, empty = offers none.
  grid_ces text[],  -- Computing elements; null = no condition, empty = offers none.
  platforms text[],  -- Platforms and what is compatible with them; null = no condition, empty = offers none.
  job_types text[],  -- Job types; null = no condition, empty = offers none.
  pilot_types text[],  -- Pilot types; empty = offers none.
  tags text[],  -- Tags offered, processors included; null = no condition.
  required_tags text[],  -- Tags that the queue must list.
  banned_sites text[],  -- The queue may list none of these sites.
  banned_grid_ces text[],  -- The queue may list none of these CEs.
  banned_platforms text[],  -- The queue may list none of these platforms.
  banned_job_types text[],  -- The queue may list none of these job types.
  banned_tags text[],  -- The queue may list none of these tags.
  max_ram double precision,  -- Memory offered, MB; null = not said.
  job_id bigint,  -- Only this job; null = any.
  limited boolean,  -- Whether the site has limits.
  reached bigint[]  -- Limits of the site that are reached.
);

-- The draws of one job of a batch, and how far they are (section 5).
create type taskqueue.stream as (
  number integer,  -- The how-manieth job of the batch it is.
  seed bigint,  -- Seed of its draws.
  entry integer,  -- Number of the CPU bucket in which a queue is drawn; 0 = all buckets are through.
  points integer,  -- Points drawn in that bucket (taskqueue.queue_point).
  above double precision,  -- Key of the last point.
  task_queue_id bigint,  -- Queue that was drawn, of which a job is to be picked; null = none yet.
  definition_id bigint,  -- Definition of that queue.
  turn bigint,  -- The how-manieth of the batch to pick a job of that queue.
  jobs bigint,  -- Jobs of that queue when its turn had come, the one picked included.
  job_id bigint,  -- Job that was leased; null = none yet.
  user_priority smallint,  -- Its user priority.
  attempt text  -- Its attempt, as the agent presents it.
);

-- CPU buckets: a queue's CPU time is rounded up to the next one (seed 004: 500, 5000, 50000, 300000).
create table taskqueue.cpu_bucket (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  cpu_time bigint not null,  -- Upper edge of the bucket, seconds (DIRAC: normalised CPU work).
  constraint cpu_bucket_pkey primary key (setup, cpu_time),
  constraint cpu_bucket_cpu_time_check check (cpu_time > 0),
  constraint cpu_bucket_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- The distinct requirements, shared by the TaskQueues that have them and by leases. Derived from the requirement tables
-- (taskqueue.rebuild_matching makes it anew, taskqueue.check_matching compares); what matching compares.
create table taskqueue.definition (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  definition_id bigint generated always as identity not null,  -- Definition.
  digest uuid not null,  -- md5 of the canonical requirements.
  family uuid not null,  -- md5 of the requirements without Sites, BannedSites, MinRAM and MaxRAM (section 9).
  -- Canonical requirements with DIRAC's keys: CPUTime as its bucket, lists sorted and without duplicates, no empty
  -- list.
  requirements jsonb not null,
  owner_dn text not null,  -- OwnerDN.
  owner_group text not null,  -- OwnerGroup.
  cpu_time bigint not null,  -- CPU bucket, seconds.
  min_ram double precision,  -- MinRAM, MB.
  pilot_types text[] not null,  -- PilotTypes, sorted.
  sites text[] not null,  -- Sites, sorted; empty = any.
  banned_sites text[] not null,  -- BannedSites, sorted.
  grid_ces text[] not null,  -- GridCEs, sorted; empty = any.
  platforms text[] not null,  -- Platforms, sorted; empty = any.
  job_types text[] not null,  -- JobTypes, sorted; empty = any.
  tags text[] not null,  -- Tags, sorted; all must be offered.
  created_at timestamp with time zone default now() not null,  -- When these requirements were first seen.
  made_in xid8 default pg_current_xact_id() not null,  -- Transaction that wrote the row.
  -- Bits: 1 always, 2 MinRAM, 4 PilotTypes, 8 JobTypes, 16 GridCEs asked for; see taskqueue.known_offer.tests.
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

-- Ended jobs, until taskqueue.forget_ended. An ended id may be inserted again.
create table taskqueue.ended (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  job_id bigint not null,  -- Job id, the same in every schema of the setup.
  attempts integer not null,  -- How often it was matched.
  token uuid,  -- Token of the last attempt; null = never matched.
  task_queue_id bigint not null,  -- Queue it was last in.
  outcome text not null,  -- finished, failed, cancelled or closed (PanDA's words).
  ended_at timestamp with time zone not null,  -- When it ended.
  constraint ended_pkey primary key (setup, job_id)
);
alter table taskqueue.ended alter column setup set (n_distinct=1);
create index ended_at on taskqueue.ended (setup, ended_at);

-- Owners whose queues are held.
create table taskqueue.held_owner (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  owner_dn text not null,  -- Owner.
  held_at timestamp with time zone not null,  -- Since when.
  constraint held_owner_pkey primary key (setup, owner_dn),
  constraint held_owner_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- What happened to jobs, one row an event, partitioned by day. A match is written when its lease ends
-- (taskqueue.match).
create table taskqueue.history (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  at timestamp with time zone not null,  -- When.
  job_id bigint not null,  -- Job id, the same in every schema of the setup.
  attempt integer not null,  -- Attempt number; 0 = never matched.
  event text not null,  -- matched, running, released, kill asked, finished, failed, cancelled or closed.
  task_queue_id bigint not null,  -- TaskQueue.
  definition_id bigint,  -- Requirements.
  cpu_time bigint,  -- CPU bucket, seconds; of matches.
  owner_group text,  -- Owner group; of matches.
  owner_dn text,  -- Owner; of matches.
  user_priority smallint,  -- User priority 0..10; 0 is background.
  site text,  -- Site of the lease.
  grid_ce text,  -- Computing element of the lease.
  role_name text not null  -- Database role that caused it.
) partition by range (at);
create index history_job on taskqueue.history (setup, job_id, at);

create table taskqueue.history_default partition of taskqueue.history default;

-- Waiting jobs.
create table taskqueue.job (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  job_id bigint not null,  -- Job id, the same in every schema of the setup.
  task_queue_id bigint not null,  -- TaskQueue it waits in.
  user_priority smallint not null,  -- User priority 0..10; 0 is background.
  held boolean default false not null,  -- True: not matched until it is resumed.
  attempts integer default 0 not null,  -- How often it was matched before.
  inserted_at timestamp with time zone not null,  -- Since when it waits.
  -- It is a job of workload.job, whose status follows what becomes of it here.
  brokered boolean default false not null,
  constraint job_pkey primary key (setup, job_id),
  constraint job_job_id_check check (job_id > 0),
  constraint job_user_priority_check check (user_priority >= 0 and user_priority <= 10),
  constraint job_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references taskqueue.task_queue(setup,
    task_queue_id)
) with (fillfactor=100, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
alter table taskqueue.job alter column setup set (n_distinct=1);
create index job_order on taskqueue.job (setup, task_queue_id, held, user_priority, job_id);

-- Waiting jobs that are not held, by queue and user priority, as of a snapshot; the newest of a queue counts,
-- job_count_change is added to it (taskqueue.job_level). Appended, never updated, so that a match reads one however
-- many there were. Derived from job.
create table taskqueue.job_count (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  known_to xid8 not null,  -- Changes made in this transaction or later are not counted here,
  count_id bigint generated always as identity not null,  -- Tells counts with the same snapshot apart.
  jobs bigint[] not null,  -- Jobs with user priority 0, 1, .. 10.
  -- Of each user priority, no job known here has a lower id; null = there was none. A match looks from there on, not
  -- through what was taken before.
  first_ids bigint[] not null,
  in_flight xid8[] not null,  -- nor those of these transactions.
  constraint job_count_pkey primary key (setup, task_queue_id, known_to, count_id),
  constraint job_count_first_ids_check check (cardinality(first_ids) = 11),
  constraint job_count_jobs_check check (cardinality(jobs) = 11)
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
alter table taskqueue.job_count alter column setup set (n_distinct=1);

-- Changes of the waiting jobs of a queue, appended so that no agent waits for another on a counter; counted by
-- taskqueue.fold_counts.
create table taskqueue.job_count_change (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  made_in xid8 default pg_current_xact_id() not null,  -- Transaction that wrote the row.
  user_priority smallint not null,  -- User priority 0..10; 0 is background.
  change bigint not null,  -- Jobs added (taken, when negative).
  first_id bigint  -- Lowest id of the jobs added; null = none added.
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
alter table taskqueue.job_count_change alter column setup set (n_distinct=1);
create index job_count_change_queue on taskqueue.job_count_change (setup, task_queue_id, made_in);

-- How far transactions had come when taskqueue.maintain last looked: counted changes of transactions that had finished
-- then may go when all that had started then have finished.
create table taskqueue.job_count_horizon (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  finished xid8 not null,  -- All transactions before this one had finished.
  started xid8 not null,  -- No transaction from this one on had started.
  constraint job_count_horizon_pkey primary key (setup),
  constraint job_count_horizon_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- Resource descriptions as they were parsed, so that a resource that asks again is known; unlogged, forgotten when a
-- configuration changes (taskqueue.forget_offers) and when unseen for ten minutes.
create unlogged table taskqueue.known_offer (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  digest bigint not null,  -- Hash of the description.
  resource jsonb not null,  -- The description without CPUTime and JobID, with the owner of a private identity.
  offer taskqueue.offer not null,  -- What it offers.
  -- Which demands of a definition (its bits) this offer may not meet, Site, BannedSites, Platform and Tag aside; bit 1:
  -- all conditions are to be tested.
  tests integer not null,
  cpu_buckets double precision[] not null,  -- CPU buckets of the setup, ascending.
  ten_first boolean not null,  -- Setting of the setup.
  policy text not null,  -- Setting of the setup.
  lease_time interval not null,  -- Setting of the setup.
  seen_at timestamp with time zone,  -- When taskqueue.see_resource last noted it.
  seen bigint[] default '{}'::bigint[] not null,  -- CPU buckets with which it was noted.
  -- Definitions that match it whatever its CPUTime, where they are few; null = not known, or many.
  matching bigint[] storage external,
  matched_at timestamp with time zone,  -- When matching was found out.
  known_to xid8,  -- Definitions made in this transaction or later are not in matching yet,
  in_flight xid8[]  -- nor those of these transactions.
) with (fillfactor=70);
alter table taskqueue.known_offer alter column setup set (n_distinct=1);
create index known_offer_digest on taskqueue.known_offer (setup, digest);

-- Matched jobs that have not ended: who has the job, since when, and the token that later calls must present.
create table taskqueue.lease (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  job_id bigint not null,  -- Job id, the same in every schema of the setup.
  attempt integer not null,  -- Number of this match of the job, from 1.
  token uuid not null,  -- Random secret of this attempt.
  task_queue_id bigint not null,  -- Queue it was taken from.
  definition_id bigint not null,  -- Requirements it was taken with.
  user_priority smallint not null,  -- User priority 0..10; 0 is background.
  state text default 'matched'::text not null,  -- matched: no report yet; running: the agent reported.
  site text,  -- Site that took it; null = the resource named none.
  grid_ce text,  -- Computing element that took it; null = none named.
  role_name text not null,  -- Database role of the agent.
  matched_at timestamp with time zone not null,  -- When it was matched.
  reported_at timestamp with time zone,  -- Last report.
  expires_at timestamp with time zone not null,  -- Until when the next report is awaited.
  kill_reason text,  -- Not null: the agent is told to kill the job, and why.
  -- It is a job of workload.job, whose status follows what becomes of it here.
  brokered boolean default false not null,
  constraint lease_pkey primary key (setup, job_id)
);
alter table taskqueue.lease alter column setup set (n_distinct=1);
create index lease_matched on taskqueue.lease (setup, matched_at) where (state = 'matched'::text);

-- Free slots of running limits: a match takes one with SKIP LOCKED, so that a limit is exact and nobody waits.
create table taskqueue.limit_slot (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  limit_id bigint not null,  -- Limit.
  -- Number of the slot; negative: not a slot, but one too many since the limit was lowered, to go with a free one.
  slot integer not null,
  constraint limit_slot_pkey primary key (setup, limit_id, slot),
  constraint limit_slot_slot_check check (slot <> 0)
);
alter table taskqueue.limit_slot alter column setup set (n_distinct=1);

-- Slots of running limits that leased jobs hold; never the row that a match looks for, so that a job ends without
-- waiting.
create table taskqueue.limit_use (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  job_id bigint not null,  -- Job id, the same in every schema of the setup.
  limit_id bigint not null,  -- Limit that the job counts at.
  slot integer not null,  -- Number of the slot.
  constraint limit_use_pkey primary key (setup, job_id, limit_id),
  constraint limit_use_once unique (setup, limit_id, slot),
  constraint limit_use_slot_check check (slot > 0)
);
alter table taskqueue.limit_use alter column setup set (n_distinct=1);

-- Owner groups with their share and properties (section 9). A group without a row has the defaults.
create table taskqueue.owner_group (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  owner_group text not null,  -- Group used for the submission.
  share double precision default 1000 not null,  -- Share of the group, any unit; default 1000.
  -- Property JobSharing: one entity for shares, and private pilots of the group run everybody's jobs.
  job_sharing boolean default false not null,
  -- Queues with a mean draw weight of at most 0.1 get the priority 0.001 and take nothing from the share.
  allow_background boolean default false not null,
  constraint owner_group_pkey primary key (setup, owner_group),
  constraint owner_group_owner_group_check check (owner_group <> ''::text),
  constraint owner_group_share_check check (share > 0::double precision and share < 'Infinity'::double precision),
  constraint owner_group_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- How many queues an owner has, and the sum of their mean weights: the sums over the rows. A queue that comes, goes or
-- weighs otherwise appends a row in the same transaction; taskqueue.fold_weights makes them few again. Derived from
-- task_queue.mean_weight.
create table taskqueue.owner_weight (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  owner_group text not null,  -- OwnerGroup of the queues.
  owner_dn text not null,  -- OwnerDN of the queues.
  -- Queues of a mean draw weight of at most 0.1: background where the group allows it (section 9).
  light boolean not null,
  queues bigint not null,  -- Queues, or how many more or fewer there are.
  -- Sum of their mean draw weights, or the change of it; numeric, so that what goes takes away exactly what came.
  weight numeric not null
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
alter table taskqueue.owner_weight alter column setup set (n_distinct=1);
create index owner_weight_owner on taskqueue.owner_weight (setup, owner_group, owner_dn);

-- Compatible platforms: a resource that offers the one also offers the other.
create table taskqueue.platform_compatibility (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  offered text not null,  -- Platform named by a resource.
  accepted text not null,  -- Platform that it therefore also offers.
  constraint platform_compatibility_pkey primary key (setup, offered, accepted),
  constraint platform_compatibility_accepted_check check (accepted <> ''::text),
  constraint platform_compatibility_offered_check check (offered <> ''::text),
  constraint platform_compatibility_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- Which queue is at a place of a list. Derived from task_queue and its requirement tables.
create table taskqueue.posting (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  list_id bigint not null,  -- List.
  band integer not null,  -- Band of the list.
  place integer not null,  -- Place in the band, from 1.
  task_queue_id bigint not null,  -- TaskQueue.
  constraint posting_pkey primary key (setup, list_id, band, place),
  constraint posting_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references taskqueue.task_queue(setup,
    task_queue_id) on delete cascade
);
alter table taskqueue.posting alter column setup set (n_distinct=1);
create index posting_task_queue on taskqueue.posting (setup, task_queue_id);

-- Lists of the open queues that a site may see, by CPU bucket; what matching draws from (taskqueue.queue_point). Each
-- is kept in bands of about the same priority. Derived from task_queue and its requirement tables.
create table taskqueue.posting_list (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  -- A site that the queues list and do not ban; '*' = they list no site; '' = every open queue, for resources without a
  -- site.
  site text not null,
  cpu_time bigint not null,  -- CPU bucket, seconds.
  list_id bigint generated always as identity not null,  -- List.
  -- Its bands, ascending: band b holds priorities of at most taskqueue.ceiling_of_band(b), and above that of band b -
  -- 1.
  bands integer[] default '{}'::integer[] not null,
  -- Places of each band, from 1; those of queues that have gone are empty until taskqueue.maintain closes the gaps.
  places integer[] default '{}'::integer[] not null,
  ceilings double precision[] default '{}'::double precision[] not null,  -- taskqueue.ceiling_of_band of each band.
  -- Running sum of places times ceiling, band by band.
  sums double precision[] default '{}'::double precision[] not null,
  rate double precision default 0 not null,  -- The last of the sums.
  top double precision default 0 not null,  -- The highest ceiling.
  room bigint default 0 not null,  -- All its places.
  constraint posting_list_pkey primary key (setup, site, cpu_time),
  constraint posting_list_id unique (setup, list_id),
  constraint posting_list_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
) with (fillfactor=50, autovacuum_analyze_threshold=10);
alter table taskqueue.posting_list alter column setup set (n_distinct=1);

-- Answers of calls that carried a request id, for ten minutes: the same call repeated gets the same answer.
create table taskqueue.request (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  role_name text not null,  -- Database role that asked.
  request_id uuid not null,  -- Chosen by the client.
  call text not null,  -- Function called.
  asked uuid not null,  -- md5 of the arguments.
  answer jsonb not null,  -- Its answer.
  made_at timestamp with time zone not null,  -- When.
  constraint request_pkey primary key (setup, role_name, request_id)
);
alter table taskqueue.request alter column setup set (n_distinct=1);

-- Classes of resources seen, at most 10,000 a setup, the ones seen last.
create table taskqueue.resource_class (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  class uuid not null,  -- Class.
  resource jsonb not null,  -- Canonical description.
  first_seen timestamp with time zone not null,  -- First seen.
  last_seen timestamp with time zone not null,  -- Last seen.
  samples bigint not null,  -- Ten-second windows in which it asked, a sample.
  matched bigint not null,  -- Those of them whose sampled request got a job.
  constraint resource_class_pkey primary key (setup, class),
  constraint resource_class_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- Resource descriptions as they came, a sample, at most one row per class in ten seconds; unlogged, rolled up by
-- taskqueue.maintain.
create unlogged table taskqueue.resource_seen (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  class uuid not null,  -- md5 of the canonical description, CPUTime as bucket, without JobID.
  seen_at timestamp with time zone not null,  -- When.
  matched boolean not null,  -- Whether the sampled request got a job.
  resource jsonb not null  -- Canonical description.
);
alter table taskqueue.resource_seen alter column setup set (n_distinct=1);
create index resource_seen_class on taskqueue.resource_seen (setup, class, seen_at desc);

-- Settings of matching, one row a setup.
create table taskqueue.setting (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  -- User priority 10 is a class of its own before all others (today's DIRAC).
  ten_first boolean default false not null,
  -- Keys of a resource description whose absence counts as offering nothing (Site, GridCE, Platform, JobType).
  strict_keys text[] default '{}'::text[] not null,
  required_keys text[] default '{CPUTime}'::text[] not null,  -- Keys without which a match request is refused.
  queue_size integer default 5000 not null,  -- Jobs a TaskQueue takes before a sibling with the same definition opens.
  -- dirac: order by random()/priority (seed 004); proportional: by -ln(random())/priority.
  policy text default 'dirac'::text not null,
  lease_time interval default '00:30:00'::interval not null,  -- From the match to the agent's first report.
  -- Within how long the other queues of an entity follow when a queue is new or gone.
  share_delay interval default '00:00:10'::interval not null,
  share_correction boolean default false not null,  -- Correct shares by the usage in the history.
  correction_window interval default '7 days'::interval not null,  -- How far back the correction of shares looks.
  history_kept interval default '30 days'::interval not null,  -- How long taskqueue.history is kept.
  -- A lease of a running job expires so long after the last heartbeat; the job fails then.
  heartbeat_time interval default '02:00:00'::interval not null,
  attempts integer default 3 not null,  -- A job that was matched so often and never started fails.
  -- What a group that is a leaf of the global shares gets: groups = the share of its owner group, DIRAC's rule; global
  -- = by how far the share is behind in the tree.
  shares text default 'groups'::text not null,
  constraint setting_pkey primary key (setup),
  constraint setting_attempts_check check (attempts > 0),
  constraint setting_correction_window_check check (correction_window > '00:00:00'::interval),
  constraint setting_heartbeat_time_check check (heartbeat_time > '00:00:00'::interval),
  constraint setting_history_kept_check check (history_kept > '00:00:00'::interval),
  constraint setting_lease_time_check check (lease_time > '00:00:00'::interval),
  constraint setting_policy_check check (policy = any (array['dirac'::text, 'proportional'::text])),
  constraint setting_queue_size_check check (queue_size > 0),
  constraint setting_share_delay_check check (share_delay >= '00:00:00'::interval),
  constraint setting_shares_check check (shares = any (array['groups'::text, 'global'::text])),
  constraint setting_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- Factors on the shares of groups: from the usage in the history where the setting share_correction is on (section 9),
-- from the tree of global shares where shares is global.
create table taskqueue.share_correction (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  owner_group text not null,  -- Group.
  owner_dn text not null,  -- Owner; empty = the whole group, one with JobSharing or a global share.
  -- Expected share / used share, within 1/5..5; of a global share what it gets by the tree / the share of its group.
  factor double precision not null,
  constraint share_correction_pkey primary key (setup, owner_group, owner_dn),
  constraint share_correction_factor_check check (factor >= 0::double precision and factor < 'Infinity'::double
    precision),
  constraint share_correction_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- Groups whose priorities are to be recomputed; appended, and eaten by taskqueue.maintain.
create table taskqueue.share_mark (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  owner_group text not null,  -- Group.
  marked_at timestamp with time zone not null  -- When its queues changed.
);
create index share_mark_group on taskqueue.share_mark (setup, owner_group);

-- Limits per site, optionally per CE, on a value of a requirement (section 7).
create table taskqueue.site_limit (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  limit_id bigint generated always as identity not null,  -- Limit.
  kind text not null,  -- running: jobs there at a time; delay: time between two matches.
  site text not null,  -- Site.
  grid_ce text,  -- Computing element; null = the whole site.
  attribute text not null,  -- Requirement key.
  value text not null,  -- Value of that key; a job counts at every value that its queue lists.
  ceiling integer,  -- Jobs at a time; kind running.
  delay interval,  -- Time between two matches; kind delay.
  burst integer,  -- Matches that may come at once after a pause; kind delay.
  next_at timestamp with time zone,  -- Token bucket as a clock: when it is full again; kind delay.
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

-- TaskQueues: all waiting jobs with identical requirements, about queue_size at most; the unit of matching (seed 004).
-- Columns hold the requirements with one value, the tables task_queue_* those with many; these are the truth.
create table taskqueue.task_queue (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint generated always as identity not null,  -- TaskQueue.
  definition_id bigint not null,  -- Its requirements as one row, shared with its siblings.
  owner_dn text not null,  -- OwnerDN: who submitted the jobs.
  owner_group text not null,  -- OwnerGroup: group used for the submission.
  cpu_time bigint not null,  -- Required CPU time, seconds; a trigger rounds it up to its bucket.
  min_ram double precision,  -- MinRAM that the resource must offer, MB; null = none asked.
  max_ram double precision,  -- MaxRAM, MB; null = none.
  -- Share of its entity (section 9); the draw is random()/priority, the smallest wins.
  priority double precision not null,
  -- Mean draw weight of its jobs (tp of section 9) when its priority was computed.
  mean_weight double precision not null,
  enabled boolean default true not null,  -- False: an operator took it out of matching.
  held boolean default false not null,  -- True: held by an operator.
  -- Whether it is open: enabled, and neither it nor its owner held; exactly then it has postings.
  posted boolean default false not null,
  created_at timestamp with time zone default now() not null,  -- When it was opened.
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

-- Requirement of TaskQueues, one row a value. Site that may not run the jobs.
create table taskqueue.task_queue_banned_site (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Site that may not run the jobs.
  constraint task_queue_banned_site_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_banned_site_value_check check (value <> ''::text),
  constraint task_queue_banned_site_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_banned_site_value on taskqueue.task_queue_banned_site (setup, value);

-- Requirement of TaskQueues, one row a value. Computing element that may run the jobs; no row = any.
create table taskqueue.task_queue_grid_ce (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Computing element that may run the jobs; no row = any.
  constraint task_queue_grid_ce_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_grid_ce_value_check check (value <> ''::text),
  constraint task_queue_grid_ce_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_grid_ce_value on taskqueue.task_queue_grid_ce (setup, value);

-- Requirement of TaskQueues, one row a value. Grid middleware of the pilots; read by pilot submission, never by
-- matching.
create table taskqueue.task_queue_grid_middleware (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Grid middleware of the pilots; read by pilot submission, never by matching.
  constraint task_queue_grid_middleware_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_grid_middleware_value_check check (value <> ''::text),
  constraint task_queue_grid_middleware_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_grid_middleware_value on taskqueue.task_queue_grid_middleware (setup, value);

-- Requirement of TaskQueues, one row a value. Type of the jobs; no row = any.
create table taskqueue.task_queue_job_type (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Type of the jobs; no row = any.
  constraint task_queue_job_type_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_job_type_value_check check (value <> ''::text),
  constraint task_queue_job_type_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_job_type_value on taskqueue.task_queue_job_type (setup, value);

-- Requirement of TaskQueues, one row a value. Pilot type that may run the jobs (private, or nothing).
create table taskqueue.task_queue_pilot_type (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Pilot type that may run the jobs (private, or nothing).
  constraint task_queue_pilot_type_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_pilot_type_value_check check (value <> ''::text),
  constraint task_queue_pilot_type_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_pilot_type_value on taskqueue.task_queue_pilot_type (setup, value);

-- Requirement of TaskQueues, one row a value. Platform that may run the jobs; no row = any.
create table taskqueue.task_queue_platform (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Platform that may run the jobs; no row = any.
  constraint task_queue_platform_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_platform_value_check check (value <> ''::text),
  constraint task_queue_platform_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_platform_value on taskqueue.task_queue_platform (setup, value);

-- Requirement of TaskQueues, one row a value. Site that may run the jobs; no row = any site.
create table taskqueue.task_queue_site (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Site that may run the jobs; no row = any site.
  constraint task_queue_site_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_site_value_check check (value <> ''::text),
  constraint task_queue_site_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_site_value on taskqueue.task_queue_site (setup, value);

-- Requirement of TaskQueues, one row a value. Pool used to submit pilots for the jobs; read by pilot submission, never
-- by matching.
create table taskqueue.task_queue_submit_pool (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Pool used to submit pilots for the jobs; read by pilot submission, never by matching.
  constraint task_queue_submit_pool_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_submit_pool_value_check check (value <> ''::text),
  constraint task_queue_submit_pool_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_submit_pool_value on taskqueue.task_queue_submit_pool (setup, value);

-- Requirement of TaskQueues, one row a value. Tag that the resource must offer.
create table taskqueue.task_queue_tag (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null,  -- TaskQueue.
  value text not null,  -- Tag that the resource must offer.
  constraint task_queue_tag_pkey primary key (setup, task_queue_id, value),
  constraint task_queue_tag_value_check check (value <> ''::text),
  constraint task_queue_tag_setup_task_queue_id_fkey foreign key (setup, task_queue_id) references
    taskqueue.task_queue(setup, task_queue_id) on delete cascade
);
create index task_queue_tag_value on taskqueue.task_queue_tag (setup, value);

-- Queues that were opened while somebody else worked on their lists: posted by the next match that finds nothing else,
-- by one match in sixteen, or by taskqueue.maintain.
create table taskqueue.unposted (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_queue_id bigint not null  -- TaskQueue.
);
alter table taskqueue.unposted alter column setup set (n_distinct=1);
create index unposted_setup on taskqueue.unposted (setup, task_queue_id);
