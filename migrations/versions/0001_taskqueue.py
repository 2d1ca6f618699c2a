"""Setups, identities and the room taskqueue: TaskQueues, requirements, waiting jobs, leases, limits, shares.

Sources: seed 004 (DIRAC Task Queue Matching), taskqueue-matching.md.
"""

from alembic import op

revision = "0001"
down_revision = "0000"
branch_labels = None
depends_on = None

# The requirements with many values (seed 004, "Task Queue Requirements"): table suffix and what the value is.
MULTI_VALUED = {
    "submit_pool": "Pool used to submit pilots for the jobs; read by pilot submission, never by matching.",
    "grid_middleware": "Grid middleware of the pilots; read by pilot submission, never by matching.",
    "pilot_type": "Pilot type that may run the jobs (private, or nothing).",
    "site": "Site that may run the jobs; no row = any site.",
    "banned_site": "Site that may not run the jobs.",
    "grid_ce": "Computing element that may run the jobs; no row = any.",
    "platform": "Platform that may run the jobs; no row = any.",
    "job_type": "Type of the jobs; no row = any.",
    "tag": "Tag that the resource must offer.",
}

TABLES = """
create table resource.setup (
  setup      text        not null primary key check (setup <> ''),
  created_at timestamptz not null default now(),
  simulated  timestamptz
);

create table resource.identity (
  setup       text    not null references resource.setup on delete cascade,
  role_name   text    not null,
  private     boolean not null default false,
  owner_group text,
  owner_dn    text,
  primary key (setup, role_name),
  constraint identity_private_names_somebody check (private = (owner_group is not null or owner_dn is not null))
);

create table taskqueue.setting (
  setup             text     not null primary key references resource.setup on delete cascade,
  ten_first         boolean  not null default false,
  strict_keys       text[]   not null default '{}',
  required_keys     text[]   not null default '{CPUTime}',
  queue_size        int      not null default 5000 check (queue_size > 0),
  policy            text     not null default 'dirac' check (policy in ('dirac', 'proportional')),
  lease_time        interval not null default '30 minutes' check (lease_time > interval '0'),
  share_delay       interval not null default '10 seconds' check (share_delay >= interval '0'),
  share_correction  boolean  not null default false,
  correction_window interval not null default '7 days' check (correction_window > interval '0'),
  history_kept      interval not null default '30 days' check (history_kept > interval '0')
);

create table taskqueue.cpu_bucket (
  setup    text   not null references resource.setup on delete cascade,
  cpu_time bigint not null check (cpu_time > 0),
  primary key (setup, cpu_time)
);

create table taskqueue.platform_compatibility (
  setup    text not null references resource.setup on delete cascade,
  offered  text not null check (offered <> ''),
  accepted text not null check (accepted <> ''),
  primary key (setup, offered, accepted)
);

create table taskqueue.owner_group (
  setup            text    not null references resource.setup on delete cascade,
  owner_group      text    not null check (owner_group <> ''),
  share            float8  not null default 1000 check (share > 0 and share < 'infinity'),
  job_sharing      boolean not null default false,
  allow_background boolean not null default false,
  primary key (setup, owner_group)
);

create table taskqueue.held_owner (
  setup    text        not null references resource.setup on delete cascade,
  owner_dn text        not null,
  held_at  timestamptz not null,
  primary key (setup, owner_dn)
);

create table taskqueue.definition (
  setup         text        not null references resource.setup on delete cascade,
  definition_id bigint      not null generated always as identity,
  digest        uuid        not null,
  family        uuid        not null,
  requirements  jsonb       not null,
  owner_dn      text        not null,
  owner_group   text        not null,
  cpu_time      bigint      not null,
  min_ram       float8,
  pilot_types   text[]      not null,
  sites         text[]      not null,
  banned_sites  text[]      not null,
  grid_ces      text[]      not null,
  platforms     text[]      not null,
  job_types     text[]      not null,
  tags          text[]      not null,
  created_at    timestamptz not null default now(),
  made_in       xid8        not null default pg_current_xact_id(),
  demands       int         not null generated always as (
                              1 | case when min_ram is null then 0 else 2 end | case when pilot_types = '{}' then 0 else 4 end
                              | case when job_types = '{}' then 0 else 8 end | case when grid_ces = '{}' then 0 else 16 end) stored,
  primary key (setup, definition_id),
  constraint definition_once unique (setup, digest)
) with (toast_tuple_target = 8160);  -- lists stay in the row: matching reads them

create index definition_family on taskqueue.definition (setup, family);
create index definition_owner on taskqueue.definition (setup, owner_group, owner_dn);
create index definition_made_in on taskqueue.definition (setup, made_in);

create table taskqueue.task_queue (
  setup         text        not null references resource.setup on delete cascade,
  task_queue_id bigint      not null generated always as identity,
  definition_id bigint      not null,
  owner_dn      text        not null check (owner_dn <> ''),
  owner_group   text        not null check (owner_group <> ''),
  cpu_time      bigint      not null check (cpu_time > 0),
  min_ram       float8      check (min_ram >= 0),
  max_ram       float8      check (max_ram >= 0),
  priority      float8      not null check (priority > 0 and priority < 'infinity'),
  mean_weight   float8      not null check (mean_weight > 0),
  enabled       boolean     not null default true,
  held          boolean     not null default false,
  posted        boolean     not null default false,
  created_at    timestamptz not null default now(),
  primary key (setup, task_queue_id),
  foreign key (setup, definition_id) references taskqueue.definition,
  constraint task_queue_ram check (min_ram <= max_ram)
);
create index task_queue_definition on taskqueue.task_queue (setup, definition_id, task_queue_id desc);
create index task_queue_owner on taskqueue.task_queue (setup, owner_group, owner_dn);

create table taskqueue.posting_list (
  setup    text     not null references resource.setup on delete cascade,
  site     text     not null,
  cpu_time bigint   not null,
  list_id  bigint   not null generated always as identity,
  bands    int[]    not null default '{}',
  places   int[]    not null default '{}',
  ceilings float8[] not null default '{}',
  sums     float8[] not null default '{}',
  rate     float8   not null default 0,
  top      float8   not null default 0,
  room     bigint   not null default 0,
  primary key (setup, site, cpu_time),
  constraint posting_list_id unique (setup, list_id)
) with (fillfactor = 50, autovacuum_analyze_threshold = 10);

create table taskqueue.posting (
  setup         text   not null,
  list_id       bigint not null,
  band          int    not null,
  place         int    not null,
  task_queue_id bigint not null,
  primary key (setup, list_id, band, place),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index posting_task_queue on taskqueue.posting (setup, task_queue_id);

create table taskqueue.job (
  setup         text        not null,
  job_id        bigint      not null check (job_id > 0),
  task_queue_id bigint      not null,
  user_priority smallint    not null check (user_priority between 0 and 10),
  held          boolean     not null default false,
  attempts      int         not null default 0,
  inserted_at   timestamptz not null,
  primary key (setup, job_id),
  foreign key (setup, task_queue_id) references taskqueue.task_queue
) with (fillfactor = 100, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index job_order on taskqueue.job (setup, task_queue_id, held, user_priority, job_id);

create table taskqueue.job_count (  -- no foreign key: counting would lock the queue's row
  setup         text     not null,
  task_queue_id bigint   not null,
  known_to      xid8     not null,
  count_id      bigint   not null generated always as identity,
  jobs          bigint[] not null check (cardinality(jobs) = 11),
  first_ids     bigint[] not null check (cardinality(first_ids) = 11),
  in_flight     xid8[]   not null,
  primary key (setup, task_queue_id, known_to, count_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

create table taskqueue.job_count_change (
  setup         text     not null,
  task_queue_id bigint   not null,
  made_in       xid8     not null default pg_current_xact_id(),
  user_priority smallint not null,
  change        bigint   not null,
  first_id      bigint
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index job_count_change_queue on taskqueue.job_count_change (setup, task_queue_id, made_in);

create table taskqueue.job_count_horizon (
  setup    text not null primary key references resource.setup on delete cascade,
  finished xid8 not null,
  started  xid8 not null
);

create table taskqueue.lease (
  setup         text        not null,
  job_id        bigint      not null,
  attempt       int         not null,
  token         uuid        not null,
  task_queue_id bigint      not null,
  definition_id bigint      not null,
  user_priority smallint    not null,
  state         text        not null default 'matched' check (state in ('matched', 'running')),
  site          text,
  grid_ce       text,
  role_name     text        not null,
  matched_at    timestamptz not null,
  reported_at   timestamptz,
  expires_at    timestamptz not null,
  kill_reason   text,
  primary key (setup, job_id)
);

create table taskqueue.ended (
  setup         text        not null,
  job_id        bigint      not null,
  attempts      int         not null,
  token         uuid,
  task_queue_id bigint      not null,
  outcome       text        not null check (outcome in ('finished', 'failed', 'cancelled', 'closed')),
  ended_at      timestamptz not null,
  primary key (setup, job_id)
);
create index ended_at on taskqueue.ended (setup, ended_at);

create table taskqueue.history (
  setup         text        not null,
  at            timestamptz not null,
  job_id        bigint      not null,
  attempt       int         not null,
  event         text        not null,
  task_queue_id bigint      not null,
  definition_id bigint,
  cpu_time      bigint,
  owner_group   text,
  owner_dn      text,
  user_priority smallint,
  site          text,
  grid_ce       text,
  role_name     text        not null
) partition by range (at);
create index history_job on taskqueue.history (setup, job_id, at);
create table taskqueue.history_default partition of taskqueue.history default;

create table taskqueue.unposted (  -- no foreign key: who drops a queue would wait for who is posting it
  setup         text   not null,
  task_queue_id bigint not null
);
create index unposted_setup on taskqueue.unposted (setup, task_queue_id);

create type taskqueue.offer as (
  owner_dn         text,
  owner_groups     text[],
  sharing_groups   text[],
  cpu_time         bigint,
  sites            text[],
  grid_ces         text[],
  platforms        text[],
  job_types        text[],
  pilot_types      text[],
  tags             text[],
  required_tags    text[],
  banned_sites     text[],
  banned_grid_ces  text[],
  banned_platforms text[],
  banned_job_types text[],
  banned_tags      text[],
  max_ram          float8,
  job_id           bigint,
  limited          boolean,
  reached          bigint[]
);

create table taskqueue.site_limit (
  setup      text        not null references resource.setup on delete cascade,
  limit_id   bigint      not null generated always as identity,
  kind       text        not null check (kind in ('running', 'delay')),
  site       text        not null check (site <> ''),
  grid_ce    text        check (grid_ce <> ''),
  attribute  text        not null,
  value      text        not null,
  ceiling    int         check (ceiling >= 0),
  delay      interval    check (delay >= interval '0'),
  burst      int         check (burst > 0),
  next_at    timestamptz,
  primary key (setup, limit_id),
  constraint site_limit_once unique nulls not distinct (setup, site, grid_ce, kind, attribute, value),
  constraint site_limit_kind check (case kind when 'running' then ceiling is not null and delay is null
                                              else ceiling is null and delay is not null and burst is not null end)
);

create table taskqueue.limit_slot (
  setup    text   not null,
  limit_id bigint not null,
  slot     int    not null check (slot <> 0),
  primary key (setup, limit_id, slot)
);  -- no foreign key, here and below: every match and every end of a job would lock the limit's row

create table taskqueue.limit_use (
  setup    text   not null,
  job_id   bigint not null,
  limit_id bigint not null,
  slot     int    not null check (slot > 0),
  primary key (setup, job_id, limit_id),
  constraint limit_use_once unique (setup, limit_id, slot)
);

create table taskqueue.share_mark (
  setup       text        not null,
  owner_group text        not null,
  marked_at   timestamptz not null
);
create index share_mark_group on taskqueue.share_mark (setup, owner_group);

create table taskqueue.share_correction (
  setup       text   not null references resource.setup on delete cascade,
  owner_group text   not null,
  owner_dn    text   not null,
  factor      float8 not null check (factor between 0.2 and 5),
  primary key (setup, owner_group, owner_dn)
);

create table taskqueue.request (
  setup      text        not null,
  role_name  text        not null,
  request_id uuid        not null,
  call       text        not null,
  asked      uuid        not null,
  answer     jsonb       not null,
  made_at    timestamptz not null,
  primary key (setup, role_name, request_id)
);

create type taskqueue.leased as (
  job_id        bigint,
  task_queue_id bigint,
  requirements  jsonb,
  user_priority int,
  attempt       text
);

create unlogged table taskqueue.known_offer (
  setup       text           not null,
  digest      bigint         not null,
  resource    jsonb          not null,
  offer       taskqueue.offer not null,
  tests       int            not null,
  cpu_buckets float8[]       not null,
  ten_first   boolean        not null,
  policy      text           not null,
  lease_time  interval       not null,
  seen_at     timestamptz,
  seen        bigint[]       not null default '{}',
  matching    bigint[],
  matched_at  timestamptz,
  known_to    xid8,
  in_flight   xid8[]
) with (fillfactor = 70);
create index known_offer_digest on taskqueue.known_offer (setup, digest);
alter table taskqueue.known_offer alter column matching set storage external;

create unlogged table taskqueue.resource_seen (
  setup    text        not null,
  class    uuid        not null,
  seen_at  timestamptz not null,
  matched  boolean     not null,
  resource jsonb       not null
);
create index resource_seen_class on taskqueue.resource_seen (setup, class, seen_at desc);

create table taskqueue.resource_class (
  setup      text        not null references resource.setup on delete cascade,
  class      uuid        not null,
  resource   jsonb       not null,
  first_seen timestamptz not null,
  last_seen  timestamptz not null,
  samples    bigint      not null,
  matched    bigint      not null,
  primary key (setup, class)
);

"""

SETUP = "Tenant: DIRAC's Setup, PanDA's vo."
JOB = "Job id, the same in every room of the setup."
QUEUE = "TaskQueue."
LEVEL = "User priority 0..10; 0 is background."

# Meaning, unit and source of every table and column.
COMMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "resource.setup": (
        "Setups (tenants). A setup comes into being with its first job or configuration.",
        {
            "setup": SETUP,
            "created_at": "When the setup came into being.",
            "simulated": "The moment that resource.clock() answers for a simulated setup; null = real time.",
        },
    ),
    "resource.identity": (
        "Who a database role is in a setup: looked up, not believed (architecture, Roles). No row, no access; operators need none.",
        {
            "setup": SETUP,
            "role_name": "Role that was SET, else the login.",
            "private": "Private pilot or submitter: bound to the owner group or owner named here, whatever the request says.",
            "owner_group": "Group the identity acts for; null = any group of the owner.",
            "owner_dn": "Owner the identity acts for; null = any of the group.",
        },
    ),
    "taskqueue.setting": (
        "Settings of matching, one row a setup.",
        {
            "setup": SETUP,
            "ten_first": "User priority 10 is a class of its own before all others (today's DIRAC).",
            "strict_keys": "Keys of a resource description whose absence counts as offering nothing (Site, GridCE, Platform, JobType).",
            "required_keys": "Keys without which a match request is refused.",
            "queue_size": "Jobs a TaskQueue takes before a sibling with the same definition opens.",
            "policy": "dirac: order by random()/priority (seed 004); proportional: by -ln(random())/priority.",
            "lease_time": "From the match to the agent's first report.",
            "share_delay": "Within how long the other queues of an entity follow when a queue is new or gone.",
            "share_correction": "Correct shares by the usage in the history.",
            "correction_window": "How far back the correction of shares looks.",
            "history_kept": "How long taskqueue.history is kept.",
        },
    ),
    "taskqueue.cpu_bucket": (
        "CPU buckets: a queue's CPU time is rounded up to the next one (seed 004: 500, 5000, 50000, 300000).",
        {"setup": SETUP, "cpu_time": "Upper edge of the bucket, seconds (DIRAC: normalised CPU work)."},
    ),
    "taskqueue.platform_compatibility": (
        "Compatible platforms: a resource that offers the one also offers the other.",
        {
            "setup": SETUP,
            "offered": "Platform named by a resource.",
            "accepted": "Platform that it therefore also offers.",
        },
    ),
    "taskqueue.owner_group": (
        "Owner groups with their share and properties (section 9). A group without a row has the defaults.",
        {
            "setup": SETUP,
            "owner_group": "Group used for the submission.",
            "share": "Share of the group, any unit; default 1000.",
            "job_sharing": "Property JobSharing: one entity for shares, and private pilots of the group run everybody's jobs.",
            "allow_background": "Queues with a mean draw weight of at most 0.1 get the priority 0.001 and take nothing from the share.",
        },
    ),
    "taskqueue.held_owner": (
        "Owners whose queues are held.",
        {"setup": SETUP, "owner_dn": "Owner.", "held_at": "Since when."},
    ),
    "taskqueue.definition": (
        "The distinct requirements, shared by the TaskQueues that have them and by leases. Derived from the requirement tables"
        " (taskqueue.rebuild_matching makes it anew, taskqueue.check_matching compares); what matching compares.",
        {
            "setup": SETUP,
            "definition_id": "Definition.",
            "digest": "md5 of the canonical requirements.",
            "family": "md5 of the requirements without Sites, BannedSites, MinRAM and MaxRAM (section 9).",
            "requirements": "Canonical requirements with DIRAC's keys: CPUTime as its bucket, lists sorted and without duplicates, no empty list.",
            "owner_dn": "OwnerDN.",
            "owner_group": "OwnerGroup.",
            "cpu_time": "CPU bucket, seconds.",
            "min_ram": "MinRAM, MB.",
            "pilot_types": "PilotTypes, sorted.",
            "sites": "Sites, sorted; empty = any.",
            "banned_sites": "BannedSites, sorted.",
            "grid_ces": "GridCEs, sorted; empty = any.",
            "platforms": "Platforms, sorted; empty = any.",
            "job_types": "JobTypes, sorted; empty = any.",
            "tags": "Tags, sorted; all must be offered.",
            "created_at": "When these requirements were first seen.",
            "made_in": "Transaction that wrote the row.",
            "demands": "Bits: 1 always, 2 MinRAM, 4 PilotTypes, 8 JobTypes, 16 GridCEs asked for; see taskqueue.known_offer.tests.",
        },
    ),
    "taskqueue.task_queue": (
        "TaskQueues: all waiting jobs with identical requirements, about queue_size at most; the unit of matching (seed 004)."
        " Columns hold the requirements with one value, the tables task_queue_* those with many; these are the truth.",
        {
            "setup": SETUP,
            "task_queue_id": QUEUE,
            "definition_id": "Its requirements as one row, shared with its siblings.",
            "owner_dn": "OwnerDN: who submitted the jobs.",
            "owner_group": "OwnerGroup: group used for the submission.",
            "cpu_time": "Required CPU time, seconds; a trigger rounds it up to its bucket.",
            "min_ram": "MinRAM that the resource must offer, MB; null = none asked.",
            "max_ram": "MaxRAM, MB; null = none.",
            "priority": "Share of its entity (section 9); the draw is random()/priority, the smallest wins.",
            "mean_weight": "Mean draw weight of its jobs (tp of section 9) when its priority was computed.",
            "enabled": "False: an operator took it out of matching.",
            "held": "True: held by an operator.",
            "posted": "Whether it is open: enabled, and neither it nor its owner held; exactly then it has postings.",
            "created_at": "When it was opened.",
        },
    ),
    "taskqueue.posting_list": (
        "Lists of the open queues that a site may see, by CPU bucket; what matching draws from (taskqueue.queue_point). Each is kept in"
        " bands of about the same priority. Derived from task_queue and its requirement tables.",
        {
            "setup": SETUP,
            "site": "A site that the queues list and do not ban; '*' = they list no site; '' = every open queue, for resources without a site.",
            "cpu_time": "CPU bucket, seconds.",
            "list_id": "List.",
            "bands": "Its bands, ascending: band b holds priorities of at most taskqueue.ceiling_of_band(b), and above that of band b - 1.",
            "places": "Places of each band, from 1; those of queues that have gone are empty until taskqueue.maintain closes the gaps.",
            "ceilings": "taskqueue.ceiling_of_band of each band.",
            "sums": "Running sum of places times ceiling, band by band.",
            "rate": "The last of the sums.",
            "top": "The highest ceiling.",
            "room": "All its places.",
        },
    ),
    "taskqueue.posting": (
        "Which queue is at a place of a list. Derived from task_queue and its requirement tables.",
        {
            "setup": SETUP,
            "list_id": "List.",
            "band": "Band of the list.",
            "place": "Place in the band, from 1.",
            "task_queue_id": QUEUE,
        },
    ),
    "taskqueue.unposted": (
        "Queues that were opened while somebody else worked on their lists: posted by the next match that finds nothing else, by one match in"
        " sixteen, or by taskqueue.maintain.",
        {"setup": SETUP, "task_queue_id": QUEUE},
    ),
    "taskqueue.known_offer": (
        "Resource descriptions as they were parsed, so that a resource that asks again is known; unlogged, forgotten when a configuration"
        " changes (taskqueue.forget_offers) and when unseen for ten minutes.",
        {
            "setup": SETUP,
            "digest": "Hash of the description.",
            "resource": "The description without CPUTime and JobID, with the owner of a private identity.",
            "offer": "What it offers.",
            "tests": "Which demands of a definition (its bits) this offer may not meet, Site, BannedSites, Platform and Tag aside; bit 1: all conditions are to be tested.",
            "cpu_buckets": "CPU buckets of the setup, ascending.",
            "ten_first": "Setting of the setup.",
            "policy": "Setting of the setup.",
            "lease_time": "Setting of the setup.",
            "seen_at": "When taskqueue.see_resource last noted it.",
            "seen": "CPU buckets with which it was noted.",
            "matching": "Definitions that match it whatever its CPUTime, where they are few; null = not known, or many.",
            "matched_at": "When matching was found out.",
            "known_to": "Definitions made in this transaction or later are not in matching yet,",
            "in_flight": "nor those of these transactions.",
        },
    ),
    "taskqueue.job": (
        "Waiting jobs.",
        {
            "setup": SETUP,
            "job_id": JOB,
            "task_queue_id": "TaskQueue it waits in.",
            "user_priority": LEVEL,
            "held": "True: not matched until it is let go.",
            "attempts": "How often it was matched before.",
            "inserted_at": "Since when it waits.",
        },
    ),
    "taskqueue.job_count": (
        "Waiting jobs that are not held, by queue and user priority, as of a snapshot; the newest of a queue counts, job_count_change is added"
        " to it (taskqueue.job_level). Appended, never updated, so that a match reads one however many there were. Derived from job.",
        {
            "setup": SETUP,
            "task_queue_id": QUEUE,
            "known_to": "Changes made in this transaction or later are not counted here,",
            "count_id": "Tells counts with the same snapshot apart.",
            "jobs": "Jobs with user priority 0, 1, .. 10.",
            "first_ids": "Of each user priority, no job known here has a lower id; null = there was none. A match looks from there on, not"
            " through what was taken before.",
            "in_flight": "nor those of these transactions.",
        },
    ),
    "taskqueue.job_count_change": (
        "Changes of the waiting jobs of a queue, appended so that no agent waits for another on a counter; counted by taskqueue.fold_counts.",
        {
            "setup": SETUP,
            "task_queue_id": QUEUE,
            "made_in": "Transaction that wrote the row.",
            "user_priority": LEVEL,
            "change": "Jobs added (taken, when negative).",
            "first_id": "Lowest id of the jobs added; null = none added.",
        },
    ),
    "taskqueue.job_count_horizon": (
        "How far transactions had come when taskqueue.maintain last looked: counted changes of transactions that had finished then may go"
        " when all that had started then have finished.",
        {
            "setup": SETUP,
            "finished": "All transactions before this one had finished.",
            "started": "No transaction from this one on had started.",
        },
    ),
    "taskqueue.lease": (
        "Matched jobs that have not ended: who has the job, since when, and the token that later calls must present.",
        {
            "setup": SETUP,
            "job_id": JOB,
            "attempt": "Number of this match of the job, from 1.",
            "token": "Random secret of this attempt.",
            "task_queue_id": "Queue it was taken from.",
            "definition_id": "Requirements it was taken with.",
            "user_priority": LEVEL,
            "state": "matched: no report yet; running: the agent reported.",
            "site": "Site that took it; null = the resource named none.",
            "grid_ce": "Computing element that took it; null = none named.",
            "role_name": "Database role of the agent.",
            "matched_at": "When it was matched.",
            "reported_at": "Last report.",
            "expires_at": "Until when the next report is awaited.",
            "kill_reason": "Not null: the agent is told to kill the job, and why.",
        },
    ),
    "taskqueue.ended": (
        "Ended jobs, until taskqueue.forget_ended. An ended id may be inserted again.",
        {
            "setup": SETUP,
            "job_id": JOB,
            "attempts": "How often it was matched.",
            "token": "Token of the last attempt; null = never matched.",
            "task_queue_id": "Queue it was last in.",
            "outcome": "finished, failed, cancelled or closed (PanDA's words).",
            "ended_at": "When it ended.",
        },
    ),
    "taskqueue.history": (
        "What happened to jobs, one row an event, partitioned by day. A match is written when its lease ends (taskqueue.match).",
        {
            "setup": SETUP,
            "at": "When.",
            "job_id": JOB,
            "attempt": "Attempt number; 0 = never matched.",
            "event": "matched, running, released, kill asked, finished, failed, cancelled or closed.",
            "task_queue_id": QUEUE,
            "definition_id": "Requirements.",
            "cpu_time": "CPU bucket, seconds; of matches.",
            "owner_group": "Owner group; of matches.",
            "owner_dn": "Owner; of matches.",
            "user_priority": LEVEL,
            "site": "Site of the lease.",
            "grid_ce": "Computing element of the lease.",
            "role_name": "Database role that caused it.",
        },
    ),
    "taskqueue.site_limit": (
        "Limits per site, optionally per CE, on a value of a requirement (section 7).",
        {
            "setup": SETUP,
            "limit_id": "Limit.",
            "kind": "running: jobs there at a time; delay: time between two matches.",
            "site": "Site.",
            "grid_ce": "Computing element; null = the whole site.",
            "attribute": "Requirement key.",
            "value": "Value of that key; a job counts at every value that its queue lists.",
            "ceiling": "Jobs at a time; kind running.",
            "delay": "Time between two matches; kind delay.",
            "burst": "Matches that may come at once after a pause; kind delay.",
            "next_at": "Token bucket as a clock: when it is full again; kind delay.",
        },
    ),
    "taskqueue.limit_slot": (
        "Free slots of running limits: a match takes one with SKIP LOCKED, so that a limit is exact and nobody waits.",
        {
            "setup": SETUP,
            "limit_id": "Limit.",
            "slot": "Number of the slot; negative: not a slot, but one too many since the limit was lowered, to go with a free one.",
        },
    ),
    "taskqueue.limit_use": (
        "Slots of running limits that leased jobs hold; never the row that a match looks for, so that a job ends without waiting.",
        {
            "setup": SETUP,
            "job_id": JOB,
            "limit_id": "Limit that the job counts at.",
            "slot": "Number of the slot.",
        },
    ),
    "taskqueue.share_mark": (
        "Groups whose priorities are to be recomputed; appended, and eaten by taskqueue.maintain.",
        {"setup": SETUP, "owner_group": "Group.", "marked_at": "When its queues changed."},
    ),
    "taskqueue.share_correction": (
        "Factors on the shares from the usage in the history, where the setting share_correction is on (section 9).",
        {
            "setup": SETUP,
            "owner_group": "Group.",
            "owner_dn": "Owner; '' = the whole group, which has JobSharing.",
            "factor": "Expected share / used share, within 1/5..5.",
        },
    ),
    "taskqueue.request": (
        "Answers of calls that carried a request id, for ten minutes: the same call repeated gets the same answer.",
        {
            "setup": SETUP,
            "role_name": "Database role that asked.",
            "request_id": "Chosen by the client.",
            "call": "Function called.",
            "asked": "md5 of the arguments.",
            "answer": "Its answer.",
            "made_at": "When.",
        },
    ),
    "taskqueue.resource_seen": (
        "Resource descriptions as they came, a sample, at most one row per class in ten seconds; unlogged, rolled up by taskqueue.maintain.",
        {
            "setup": SETUP,
            "class": "md5 of the canonical description, CPUTime as bucket, without JobID.",
            "seen_at": "When.",
            "matched": "Whether the sampled request got a job.",
            "resource": "Canonical description.",
        },
    ),
    "taskqueue.resource_class": (
        "Classes of resources seen, at most 10,000 a setup, the ones seen last.",
        {
            "setup": SETUP,
            "class": "Class.",
            "resource": "Canonical description.",
            "first_seen": "First seen.",
            "last_seen": "Last seen.",
            "samples": "Ten-second windows in which it asked, a sample.",
            "matched": "Those of them whose sampled request got a job.",
        },
    ),
}

OFFER = {
    "owner_dn": "Private pilot: the only owner it serves; null = by group, or generic.",
    "owner_groups": "Private pilot: the groups it serves; null = no condition by group.",
    "sharing_groups": "Those of owner_groups that have the property JobSharing.",
    "cpu_time": "CPU time offered, seconds.",
    "sites": "Sites; null = no condition, empty = offers none.",
    "grid_ces": "Computing elements; null = no condition, empty = offers none.",
    "platforms": "Platforms and what is compatible with them; null = no condition, empty = offers none.",
    "job_types": "Job types; null = no condition, empty = offers none.",
    "pilot_types": "Pilot types; empty = offers none.",
    "tags": "Tags offered, processors included; null = no condition.",
    "required_tags": "Tags that the queue must list.",
    "banned_sites": "The queue may list none of these sites.",
    "banned_grid_ces": "The queue may list none of these CEs.",
    "banned_platforms": "The queue may list none of these platforms.",
    "banned_job_types": "The queue may list none of these job types.",
    "banned_tags": "The queue may list none of these tags.",
    "max_ram": "Memory offered, MB; null = not said.",
    "job_id": "Only this job; null = any.",
    "limited": "Whether the site has limits.",
    "reached": "Limits of the site that are reached.",
}

LEASED = {
    "job_id": JOB,
    "task_queue_id": "TaskQueue it was taken from.",
    "requirements": "Its requirements, canonical.",
    "user_priority": LEVEL,
    "attempt": "Attempt for the later calls about the job: number, hyphen, token.",
}

# What the planner is to believe of every setup: that it holds the whole table. Else a setup that the statistics do not know looks as if
# it had one row, and an index by setup and job id as good as the one by queue: a match took 6 ms instead of 0.5. The calls on the hot path
# ask for generic plans (see match_jobs.sql), which go by this.
BY_SETUP = (
    "definition",
    "task_queue",
    "posting_list",
    "posting",
    "unposted",
    "known_offer",
    "job",
    "job_count",
    "job_count_change",
    "lease",
    "limit_slot",
    "limit_use",
    "ended",
    "resource_seen",
    "request",
)


def upgrade() -> None:
    """Create the tables and types."""
    _run(TABLES)
    for table in BY_SETUP:
        _run(f"alter table taskqueue.{table} alter column setup set (n_distinct = 1)")
    for name, meaning in MULTI_VALUED.items():
        _run(f"""
create table taskqueue.task_queue_{name} (
  setup         text   not null,
  task_queue_id bigint not null,
  value         text   not null check (value <> ''),
  primary key (setup, task_queue_id, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index task_queue_{name}_value on taskqueue.task_queue_{name} (setup, value);
""")
        _comment("table", f"taskqueue.task_queue_{name}", f"Requirement of TaskQueues, one row a value. {meaning}")
        _comment("column", f"taskqueue.task_queue_{name}.setup", SETUP)
        _comment("column", f"taskqueue.task_queue_{name}.task_queue_id", QUEUE)
        _comment("column", f"taskqueue.task_queue_{name}.value", meaning)
    for table, (meaning, columns) in COMMENTS.items():
        _comment("table", table, meaning)
        for column, text in columns.items():
            _comment("column", f"{table}.{column}", text)
    _comment("table", "taskqueue.history_default", "Catches events of days that have no partition yet.")
    for column, text in COMMENTS["taskqueue.history"][1].items():
        _comment("column", f"taskqueue.history_default.{column}", text)
    _comment("type", "taskqueue.leased", "The answer to a match.")
    for column, text in LEASED.items():
        _comment("column", f"taskqueue.leased.{column}", text)
    _comment(
        "type", "taskqueue.offer", "A resource description, parsed and checked: what a JobAgent offers (section 4)."
    )
    for column, text in OFFER.items():
        _comment("column", f"taskqueue.offer.{column}", text)


def downgrade() -> None:
    """Drop the tables and types; everything in them is lost."""
    _run("drop type taskqueue.leased")
    for name in MULTI_VALUED:
        _run(f"drop table taskqueue.task_queue_{name}")
    for table in (
        "resource_class",
        "resource_seen",
        "known_offer",
        "request",
        "share_correction",
        "share_mark",
        "limit_use",
        "limit_slot",
        "site_limit",
        "history",
        "ended",
        "lease",
        "job_count_horizon",
        "job_count_change",
        "job_count",
        "job",
        "unposted",
        "posting",
        "posting_list",
        "task_queue",
        "definition",
        "held_owner",
        "owner_group",
        "platform_compatibility",
        "cpu_bucket",
        "setting",
    ):
        _run(f"drop table taskqueue.{table}")
    _run("drop type taskqueue.offer")
    _run("drop table resource.identity")
    _run("drop table resource.setup")


def _comment(kind: str, name: str, text: str) -> None:
    _run(f"comment on {kind} {name} is '{text.replace(chr(39), chr(39) * 2)}'")


def _run(sql: str) -> None:
    cursor = op.get_bind().connection.cursor()
    cursor.execute(sql)
