-- The tables of the schema taskqueue as release 0.1.0 has them; revisions change them.
-- With `n_distinct = 1` the planner believes that every setup holds the whole table. Otherwise a setup that the
-- statistics do not know looks as if it had one row, and an index by setup and job id looks as good as the one by
-- TaskQueue: a match took 6 ms instead of 0.5 ms. The hot calls ask for generic plans (match_jobs.sql), which use this.

create schema taskqueue;
comment on schema taskqueue is
  'TaskQueues, requirements and waiting jobs: a resource asks, and one job is taken. Knows resource and workload.';

--: Settings of matching, one row per setup (taskqueue.set_settings).
create table taskqueue.setting (
  setup             text primary key references resource.setup on delete cascade,
  --: Whether user priority 10 is a class of its own, before all others (as in today's DIRAC).
  ten_first         boolean not null default false,
  --: Whether a tag NGB in the requirements of a new job, as DIRAC 8 makes it of a memory, becomes MinRAM, N x 1000 MB.
  memory_tags       boolean not null default true,
  --: Whether jobs whose requirements name no attribute gpu.* stay away from worker nodes with a GPU (CLAUSES.md, GPUs).
  keep_gpus         boolean not null default false,
  --: Keys of a resource description whose absence means that the resource offers nothing: any of Site, GridCE, Platform
  --: and JobType.
  strict_keys       text[] not null default '{}' check (strict_keys <@ '{Site,GridCE,Platform,JobType}'),
  --: Keys of a resource description that every request for a job must have; a request without one of them is refused.
  required_keys     text[] not null default '{CPUTime}'
    check (required_keys <@ array['OwnerDN', 'OwnerGroup', 'CPUTime', 'PilotType', 'Site', 'GridCE', 'Platform',
      'JobType', 'Tag', 'RequiredTag', 'BannedSite', 'BannedGridCE', 'BannedPlatform', 'BannedJobType', 'BannedTag',
      'MaxRAM', 'NumberOfProcessors', 'WholeNode', 'Attributes', 'JobID', 'Setup']),
  --: Jobs that a TaskQueue takes before a sibling with the same definition opens.
  queue_size        int not null default 5000 check (queue_size > 0),
  --: Order of the draw: dirac = by random()/priority; proportional = by -ln(random())/priority.
  policy            text not null default 'dirac' check (policy in ('dirac', 'proportional')),
  --: Time from the match to the agent's first report, after which the lease expires.
  lease_time        interval not null default '30 minutes'
    check (lease_time > interval '0' and lease_time <= interval '100 years'),
  --: Time within which the other TaskQueues of an entity get new priorities after one was opened or removed.
  share_delay       interval not null default '10 seconds'
    check (share_delay >= interval '0' and share_delay <= interval '100 years'),
  share_correction  boolean not null default false,  --: Whether shares are corrected by the usage in the history.
  --: How long a resource counts as seen after it asked, for the reasons why jobs wait (MATCHING.md, Reasons).
  resource_time     interval not null default '1 hour'
    check (resource_time > interval '0' and resource_time <= interval '100 years'),
  --: How far back the correction of shares looks.
  correction_window interval not null default '7 days'
    check (correction_window > interval '0' and correction_window <= interval '100 years'),
  --: How long taskqueue.history and workload.job_history are kept; all setups share them, so the longest time counts.
  history_kept      interval not null default '30 days'
    check (history_kept > interval '0' and history_kept <= interval '100 years'),
  --: Time from a heartbeat of a running job until its lease expires and the job fails.
  heartbeat_time    interval not null default '2 hours'
    check (heartbeat_time > interval '0' and heartbeat_time <= interval '100 years'),
  --: A job that was lost this often before it started fails (taskqueue.job.losses).
  attempts          int not null default 3 check (attempts > 0),
  --: Largest number of times that retry rules try a job, or a part of a task's input, again; 0 switches the rules off.
  most_retries      int not null default 10 check (most_retries between 0 and 1000),
  --: The most memory to which retry rules may raise MinRAM, MB; null = no bound.
  most_ram          int check (most_ram > 0),
  --: Time for which a job is not given to the host on which it failed, if the retry rule has elsewhere: host.
  avoid_time        interval not null default '1 hour'
    check (avoid_time > interval '0' and avoid_time <= interval '100 years'),
  --: Whether the guard quarantines worker nodes that fail their jobs (GUARD.md). off: no; watch: the guard only reports
  --: the worker nodes that it would quarantine; on: a quarantined worker node gets no job but a probe now and then.
  guard             text not null default 'watch' check (guard in ('off', 'watch', 'on')),
  --: Score above which the guard quarantines a worker node. With a higher score, a broken worker node fails more jobs
  --: before, and the guard quarantines fewer healthy ones.
  guard_score       float8 not null default 10 check (guard_score between 1 and 100),
  --: If a larger fraction of the worker nodes of a site fails, the guard names the site and refuses no more of them.
  most_quarantined  float8 not null default 0.1 check (most_quarantined between 0 and 1),
  --: The share of a group that is a leaf of the global shares. groups: the share of its owner group, as in DIRAC;
  --: global: a share that depends on how far the leaf is behind in the tree.
  shares            text not null default 'groups' check (shares in ('groups', 'global')),
  --: Names that a key of requirements or of a resource description may list, such as Sites. Every name of Sites makes
  --: posting lists. Jobs that already wait stay when the setting is lowered.
  most_names        int not null default 1000 check (most_names between 100 and 100000),
  --: Maximum size of a resource description, bytes.
  description_size  int not null default 65536 check (description_size between 4096 and 1048576),
  --: Maximum size of the requirements of a job, and of the needs of a step, bytes.
  requirements_size int not null default 262144 check (requirements_size between 4096 and 16777216),
  --: Maximum size of the payload of a job, bytes.
  payload_size      int not null default 65536 check (payload_size between 0 and 16777216),
  --: Maximum size of the jobs, reports or steps of one call, bytes.
  batch_size        int not null default 67108864 check (batch_size between 1048576 and 268435456),
  --: Maximum size of the reason of a cancellation or a quarantine, bytes.
  reason_size       int not null default 1000 check (reason_size between 100 and 100000)
);
comment on constraint setting_strict_keys_check on taskqueue.setting is 'of Site, GridCE, Platform, JobType';
comment on constraint setting_required_keys_check on taskqueue.setting is
  'keys of a resource description, but neither HostName nor LHCbPlatform';
comment on constraint setting_queue_size_check on taskqueue.setting is 'at least 1';
comment on constraint setting_share_delay_check on taskqueue.setting is '0 or longer, at most 100 years';
comment on constraint setting_attempts_check on taskqueue.setting is 'at least 1';
comment on constraint setting_most_retries_check on taskqueue.setting is 'within 0 and 1000';
comment on constraint setting_most_ram_check on taskqueue.setting is 'at least 1';
comment on constraint setting_guard_score_check on taskqueue.setting is 'within 1 and 100';
comment on constraint setting_most_quarantined_check on taskqueue.setting is 'within 0 and 1';
comment on constraint setting_most_names_check on taskqueue.setting is 'within 100 and 100000';
comment on constraint setting_description_size_check on taskqueue.setting is 'within 4096 and 1048576';
comment on constraint setting_requirements_size_check on taskqueue.setting is 'within 4096 and 16777216';
comment on constraint setting_payload_size_check on taskqueue.setting is 'within 0 and 16777216';
comment on constraint setting_batch_size_check on taskqueue.setting is 'within 1048576 and 268435456';
comment on constraint setting_reason_size_check on taskqueue.setting is 'within 100 and 100000';

--: CPU buckets: the CPU time of a TaskQueue is rounded up to the next one. By default 500, 5000, 50000, 300000.
create table taskqueue.cpu_bucket (
  setup    text not null references resource.setup on delete cascade,
  cpu_time bigint not null check (cpu_time > 0),  --: Upper end of the bucket, seconds (DIRAC: normalised CPU work).
  primary key (setup, cpu_time)
);

--: Compatible platforms: a resource that offers one also offers the other.
create table taskqueue.platform_compatibility (
  setup    text not null references resource.setup on delete cascade,
  offered  text not null check (offered <> ''),  --: Platform named by a resource.
  accepted text not null check (accepted <> ''),  --: Platform that this resource also offers.
  primary key (setup, offered, accepted)
);

--: Attributes: properties of resources that requirements may name in Attributes (CLAUSES.md, Attributes).
create table taskqueue.attribute (
  setup     text not null references resource.setup on delete cascade,
  name      text not null check (name <> ''),  --: Name of the attribute, such as glibc.
  --: number, version (digits and dots, 2.34 is above 2.4), text (compared exactly), or flag (true or false).
  type      text not null check (type in ('number', 'version', 'text', 'flag')),
  --: Meaning of a resource description without the attribute: "fails" (it meets no demand), "passes" (it meets every
  --: demand), or {"value": V}, the value that counts.
  absent    jsonb not null default '"fails"'
            check (absent in ('"fails"', '"passes"') or jsonb_typeof(absent) = 'object' and absent ? 'value'),
  --: Whether a description gives at most one value. If false, it may list several; only a text may have false.
  exclusive boolean not null default true,
  primary key (setup, name),
  constraint attribute_exclusive check (exclusive or type = 'text')
);

--: One part of a condition on tags, sites and attributes, as taskqueue.condition_program reads it.
create type taskqueue.clause_part as (
  atom   int,  --: Number of the atom; the parts of an atom are alternatives, one of which must hold.
  kind   text,  --: tag, site, number, version, text or flag; many is a text of which a resource may offer several.
  name   text,  --: Name of the tag or of the attribute; empty for a site.
  absent text,  --: fails, passes or value: the meaning of a description without the attribute.
  --: For a tag + (offered) or - (not offered), else the site, text or flag; null for number and version, and where no
  --: value is accepted, so that the part holds only if the attribute is absent.
  value  text,
  low    numeric[],  --: Lower bound of number or version (taskqueue.value_order); null = none.
  above  boolean,  --: Whether the lower bound itself is left out; null where no value is accepted.
  high   numeric[],  --: Upper bound; null = none.
  below  boolean  --: Whether the upper bound itself is left out.
);

--: A value of a variable of clauses: a clause is a bit string with a bit for each such row (taskqueue.clause_values).
create type taskqueue.clause_value as (
  kind   text,  --: As in taskqueue.clause_part.
  name   text,  --: Name of the tag or of the attribute; empty for a site.
  value  text,  --: As in taskqueue.clause_part; the text of a bound, empty for a gap between bounds; null = absent.
  low    jsonb,  --: For number and version: {"min": V}, {"above": V} or {}, the lower end of the value.
  high   jsonb,  --: For number and version: {"max": V}, {"below": V} or {}, the upper end of the value.
  closes boolean  --: Whether a clause with all values of the variable always holds.
);

--: Classes of errors. The first row by position that fits an error decides, and the shipped classes come after them
--: (taskqueue.shipped_error). A null fits everything.
create table taskqueue.error_class (
  setup     text not null references resource.setup on delete cascade,
  position  int not null,  --: Order in which rows are tried.
  source    text,  --: Component that gave the error, such as pilot; null = any.
  code_from int,  --: Lowest code; null = no lower bound. If both bounds are null, an error without a code fits as well.
  code_to   int,  --: Highest code; null = no upper bound.
  pattern   text,  --: Regular expression that the text of the error contains; null = any text.
  class     text not null,  --: infrastructure, payload, input, memory, time, lost, unknown, or a class of one's own.
  primary key (setup, position)
);

--: Retry rules, which decide whether a failed job ends or is tried again (RETRIES.md). The first row by position that
--: fits and is not passive decides. A null fits everything.
create table taskqueue.retry_rule (
  setup         text not null references resource.setup on delete cascade,
  position      int not null,  --: Order in which rules are tried.
  name          text not null,  --: Name of the rule, as the history has it.
  classes       text[],  --: Classes of the end (taskqueue.error_class_of); null = any.
  --: Component that gave an error, such as pilot; null = any. One error must fit source, codes and pattern.
  source        text,
  code_from     int,  --: Lowest code of this error; null = no lower bound.
  code_to       int,  --: Highest code of this error; null = no upper bound.
  pattern       text,  --: Regular expression that the text of this error contains; null = any text.
  sites         text[],  --: Sites of the lease; null = any.
  owner_groups  text[],  --: OwnerGroup of the job; null = any.
  job_types     text[],  --: Values of JobTypes, one of which the job must list; null = any.
  failures_from int not null default 1,  --: Lowest number of failed ends of the job or part, this one included.
  failures_to   int,  --: Highest number of failed ends; null = no upper bound.
  decision      text not null check (decision in ('fail', 'retry', 'later')),  --: fail, retry or later.
  delay         interval,  --: Time after which the job may be tried again; only for later.
  --: Factor of the memory of the job or part, from 1 to 10; null = unchanged. Changes are only for retry and later.
  memory_factor numeric check (memory_factor between 1 and 10),
  --: Factor of the CPU time of the job or part, from 1 to 10; null = unchanged.
  time_factor   numeric check (time_factor between 1 and 10),
  --: host or site: the next attempt avoids the host or the site of the failure; null = neither.
  elsewhere     text check (elsewhere in ('host', 'site')),
  less_input    boolean not null default false,  --: Whether the task makes its next parts smaller.
  --: Whether the rule decides nothing, and the history only notes that it would have decided.
  passive       boolean not null default false,
  primary key (setup, position),
  constraint retry_rule_delay check ((decision = 'later') = (delay is not null)),
  constraint retry_rule_changes check (decision <> 'fail' or num_nulls(memory_factor, time_factor, elsewhere) = 3
                                                             and not less_input)
);

--: Facts of a failed end that retry rules use.
create type taskqueue.failure as (
  error_class  text,  --: Class of the end.
  error        jsonb,  --: Errors: [{"source", "code", "text"}]; null if there are none.
  site         text,  --: Site of the lease; null if the lease names none.
  owner_group  text,  --: OwnerGroup of the job.
  job_types    text[],  --: JobTypes of the job.
  failures     int,  --: Failed ends of the job or part, this one included.
  most_retries int,  --: Setting of the same name.
  --: Whether the job can be tried again; false for a job of a task that brokerage did not make.
  has_work     boolean,
  of_task      boolean,  --: Whether the job is a job of a task.
  host         text,  --: Worker node; null if no agent named it.
  ram_used     real,  --: Largest memory that the run used, MB; null if it is not known.
  requirements jsonb,  --: Canonical requirements of the job; null if they are not kept any more.
  most_ram     int,  --: Setting of the same name, MB; null means no bound.
  last_bucket  bigint,  --: The last CPU bucket of the setup, seconds.
  task_id      bigint,  --: Task of the job; null = none.
  max_attempt  int  --: Column of the same name of this task; null = no bound.
);

--: Verdict of the retry rules on a failed end.
create type taskqueue.verdict as (
  retry_rule    text,  --: The rule that decides (taskqueue.shown_retry_rule); null if no rule fits.
  passive_rule  text,  --: The first passive rule that fits and comes before that rule; null if there is none.
  retry_at      timestamptz,  --: When the job may be tried again; null if the job ends.
  failures      int,  --: Failed ends of the job or part, this one included.
  memory_factor numeric,  --: Change of the rule that decides, as in taskqueue.retry_rule; null if there is none.
  time_factor   numeric,  --: Change of the rule, as memory_factor.
  elsewhere     text,  --: Change of the rule, as memory_factor.
  less_input    boolean  --: Change of the rule, as memory_factor.
);

--: Owner groups with their share and properties. A group without a row has the defaults.
create table taskqueue.owner_group (
  setup            text not null references resource.setup on delete cascade,
  owner_group      text not null check (owner_group <> ''),  --: Group used for the submission.
  --: Share of the group, any unit; default 1000.
  share            float8 not null default 1000 check (share > 0 and share < 'infinity'),
  --: Property JobSharing: the group is one entity for shares, and private pilots of the group run the jobs of all its
  --: owners.
  job_sharing      boolean not null default false,
  --: Whether TaskQueues with a mean weight of at most 0.1 get the priority 0.001 and take nothing from the share.
  allow_background boolean not null default false,
  primary key (setup, owner_group)
);

--: Owners whose TaskQueues are held.
create table taskqueue.held_owner (
  setup    text not null references resource.setup on delete cascade,
  owner_dn text not null,  --: Owner.
  held_at  timestamptz not null,  --: The time since when they are held.
  primary key (setup, owner_dn)
);

-- Lists stay in the row (toast_tuple_target): matching reads them.
--: The distinct requirements, shared by the TaskQueues that have them and by leases; matching compares these rows. It
--: is derived from the requirement tables (taskqueue.rebuild_matching makes it again, taskqueue.check_matching
--: compares).
create table taskqueue.definition (
  setup         text not null references resource.setup on delete cascade,
  definition_id bigint not null generated always as identity,  --: Definition.
  digest        uuid not null,  --: md5 of the canonical requirements.
  family        uuid not null,  --: md5 of the requirements without Sites, BannedSites, MinRAM and MaxRAM.
  sibling_key   uuid not null,  --: md5 of the requirements without BannedSites, MinRAM and MaxRAM.
  --: Canonical requirements with DIRAC's keys: CPUTime as its bucket, lists sorted and without duplicates, empty lists
  --: left out.
  requirements  jsonb not null,
  owner_dn      text not null,  --: OwnerDN.
  owner_group   text not null,  --: OwnerGroup.
  cpu_time      bigint not null,  --: CPU bucket, seconds.
  min_ram       float8,  --: MinRAM, MB.
  pilot_types   text[] not null,  --: PilotTypes, sorted.
  sites         text[] not null,  --: Sites, sorted; empty = any.
  banned_sites  text[] not null,  --: BannedSites, sorted.
  grid_ces      text[] not null,  --: GridCEs, sorted; empty = any.
  platforms     text[] not null,  --: Platforms, sorted; empty = any.
  job_types     text[] not null,  --: JobTypes, sorted; empty = any.
  tags          text[] not null,  --: Tags, sorted; all must be offered.
  --: The clauses of the requirements as bits: the bit of each of their numbers (taskqueue.clause). Empty if there are
  --: no clauses; null if they have no numbers yet, so that they are read from the requirements.
  clauses       bit varying default '',
  created_at    timestamptz not null default now(),  --: When these requirements were first seen.
  made_in       xid8 not null default pg_current_xact_id(),  --: Transaction that wrote the row.
  --: Hashes of sites and a tag, by which a search finds the definition (taskqueue.search_keys).
  search_keys   bigint[] not null,
  is_limited    boolean not null,  --: Whether its jobs count at a limit of any site (taskqueue.counts_at_limit).
  --: The demands as bits: 1 is always set; 2 MinRAM, 4 PilotTypes, 8 JobTypes, 16 GridCEs are required; 32 its jobs
  --: count at a limit (taskqueue.parsed_description.tests).
  demands       int not null generated always as (
    1
    | case when min_ram is null then 0 else 2 end
    | case when pilot_types = '{}' then 0 else 4 end
    | case when job_types = '{}' then 0 else 8 end
    | case when grid_ces = '{}' then 0 else 16 end
    | case when is_limited then 32 else 0 end
  ) stored,
  primary key (setup, definition_id),
  constraint definition_once unique (setup, digest)
) with (toast_tuple_target = 8160);
create index definition_family on taskqueue.definition (setup, family, sibling_key);
create index definition_owner on taskqueue.definition (setup, owner_group, owner_dn);
create index definition_made_in on taskqueue.definition (setup, made_in);
create index definition_search on taskqueue.definition using gin (search_keys) with (fastupdate = off);
create index definition_unnumbered on taskqueue.definition (definition_id) where clauses is null;
alter table taskqueue.definition alter column setup set (n_distinct = 1);

--: Numbers of clauses (CLAUSES.md, Numbers). A definition names its clauses by these numbers, as bits. The table is
--: derived from the requirements of definitions.
create table taskqueue.clause (
  setup     text not null references resource.setup on delete cascade,
  clause_id int not null check (clause_id > 0),  --: Number: the place of its bit, from 1.
  --: The clause, as an element of Clauses in canonical requirements; null means that the number is free.
  clause    jsonb,
  --: Version of the list of bounds (taskqueue.attribute_bounds) that has all numbers of the clause; 0 = the clause has
  --: no numbers; null = there is none yet.
  version   int,
  primary key (setup, clause_id)
);
create index clause_text on taskqueue.clause (setup, md5(clause::text)) where clause is not null;
create index clause_free on taskqueue.clause (setup, clause_id) where clause is null;
alter table taskqueue.clause alter column setup set (n_distinct = 1);

--: The numbers with which the clauses of a setup compare an attribute (CLAUSES.md, Rounding), a row for each attribute
--: of the type number. Derived from taskqueue.clause.
create table taskqueue.attribute_bounds (
  setup   text not null references resource.setup on delete cascade,
  name    text not null,  --: Attribute.
  version int not null,  --: Version of the list, the same for all attributes of a setup.
  bounds  numeric[] not null,  --: The numbers, ascending.
  primary key (setup, name)
);
alter table taskqueue.attribute_bounds alter column setup set (n_distinct = 1);

--: The parts of the numbered clauses of a setup: a clause holds if one of its parts does. Derived from
--: taskqueue.clause.
create table taskqueue.literal (
  setup     text not null,
  clause_id int not null,  --: Number of the clause.
  --: Kind of the part: tag, no_tag, site; range or value of an attribute; absent: an attribute that is not offered.
  kind      text not null check (kind in ('tag', 'no_tag', 'site', 'range', 'value', 'absent')),
  name      text not null,  --: The tag, the site or the attribute.
  lower     numeric[],  --: Least value of a range, as the parts of a version; null means that there is none.
  above     boolean,  --: Whether the value must be above lower, instead of equal or above.
  upper     numeric[],  --: Largest value of a range, as the parts of a version; null means that there is none.
  below     boolean,  --: Whether the value must be below upper, instead of equal or below.
  value     text,  --: The text of an attribute, or true or false; only of the kind value.
  foreign key (setup, clause_id) references taskqueue.clause on delete cascade
);
create index literal_clause on taskqueue.literal (setup, clause_id);
alter table taskqueue.literal alter column setup set (n_distinct = 1);

--: Definitions that no TaskQueue and no lease has any more: the requirements of ended jobs and of the history.
--: taskqueue.maintain drops a row history_kept and a day after it was moved here.
create table taskqueue.past_definition (
  setup         text not null references resource.setup on delete cascade,
  definition_id bigint not null,  --: Definition; one that comes back gets a new number.
  requirements  jsonb not null,  --: Canonical requirements.
  moved_at      timestamptz not null,  --: When it was moved here.
  primary key (setup, definition_id)
);
create index past_definition_moved_at on taskqueue.past_definition (setup, moved_at);
alter table taskqueue.past_definition alter column setup set (n_distinct = 1);

--: TaskQueues: waiting jobs with identical requirements, about queue_size at most; the unit of matching. Columns hold
--: the requirements with one value, and the tables task_queue_* those with several; both are the source for derived
--: data.
create table taskqueue.task_queue (
  setup         text not null references resource.setup on delete cascade,
  task_queue_id bigint not null generated always as identity,
  definition_id bigint not null,  --: Requirements of the TaskQueue as one row, shared with its siblings.
  owner_dn      text not null check (owner_dn <> ''),  --: OwnerDN: the person who submitted the jobs.
  owner_group   text not null check (owner_group <> ''),  --: OwnerGroup: group used for the submission.
  --: Required CPU time, seconds; a trigger rounds it up to its bucket.
  cpu_time      bigint not null check (cpu_time > 0),
  min_ram       float8 check (min_ram >= 0),  --: MinRAM that the resource must offer, MB; null means no requirement.
  max_ram       float8 check (max_ram >= 0),  --: MaxRAM, MB; null if there is none.
  --: MaxNumberOfProcessors: the most processors that a job can use; null if there is none.
  most_processors   int check (most_processors > 0),
  --: RAMPerProcessor: memory that each further processor takes, MB; null if there is none.
  ram_per_processor float8 check (ram_per_processor >= 0),
  --: The TaskQueue's part of the share of its entity; the draw orders by random()/priority, the smallest first. When
  --: the entity gets another TaskQueue, the old part stays until maintenance (share_delay).
  priority      float8 not null check (priority > 0 and priority < 'infinity'),
  --: Number of TaskQueues that are drawn as one with it when its priority was computed, itself included (SHARES.md,
  --: Siblings).
  siblings      int not null default 1 check (siblings > 0),
  mean_weight   float8 not null check (mean_weight > 0),  --: Mean weight of its jobs when its priority was computed.
  enabled       boolean not null default true,  --: False if an operator took it out of matching.
  held          boolean not null default false,  --: True if an operator holds it.
  --: Whether it is matched: enabled, and neither it nor its owner held.
  is_open       boolean not null,
  created_at    timestamptz not null default now(),  --: When the TaskQueue was opened.
  primary key (setup, task_queue_id),
  constraint task_queue_ram check (min_ram <= max_ram),
  foreign key (setup, definition_id) references taskqueue.definition
);
create index task_queue_definition on taskqueue.task_queue (setup, definition_id, task_queue_id desc);
create index task_queue_owner on taskqueue.task_queue (setup, owner_group, owner_dn);
alter table taskqueue.task_queue alter column setup set (n_distinct = 1);

--: Posting lists: the open TaskQueues that a site may see, by CPU bucket, in weight classes. Matching draws from them
--: (taskqueue.next_candidate). Derived from task_queue and its requirement tables.
create table taskqueue.posting_list (
  setup    text not null references resource.setup on delete cascade,
  --: A site that the TaskQueues list and do not ban; '*' = they list no site; '' = every open TaskQueue, for resources
  --: without a site.
  site     text not null,
  cpu_time bigint not null,  --: CPU bucket, seconds.
  list_id  bigint not null generated always as identity,  --: Posting list.
  --: Its weight classes, ascending (taskqueue.weight_class_of).
  weight_classes    int[] not null default '{}',
  --: Number of positions of each weight class; the position of a TaskQueue that has gone is empty until
  --: taskqueue.maintain closes the gap.
  positions   int[] not null default '{}',
  upper_bounds float8[] not null default '{}',  --: taskqueue.upper_bound_of of each weight class.
  --: Running sum of positions x upper bound over the weight classes.
  cumulative_bounds     float8[] not null default '{}',
  --: Sum of positions x upper bound over all weight classes: the last of cumulative_bounds.
  total_bound     float8 not null default 0,
  highest_bound      float8 not null default 0,  --: No priority of the list exceeds it.
  position_count     bigint not null default 0,  --: Number of positions of all weight classes.
  primary key (setup, site, cpu_time),
  constraint posting_list_id unique (setup, list_id)
) with (fillfactor = 50, autovacuum_analyze_threshold = 10);
alter table taskqueue.posting_list alter column setup set (n_distinct = 1);

--: Postings: which TaskQueue has a position of a posting list. Derived from task_queue and its requirement tables.
create table taskqueue.posting (
  setup         text not null,
  list_id       bigint not null,  --: Posting list.
  weight_class          int not null,  --: Weight class of the list.
  position         int not null,  --: Position in the weight class, from 1.
  task_queue_id bigint not null,
  primary key (setup, list_id, weight_class, position),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
);
create index posting_task_queue on taskqueue.posting (setup, task_queue_id);
alter table taskqueue.posting alter column setup set (n_distinct = 1);

-- No hand names an entry twice, whatever happens to the job. The counts of a TaskQueue depend on this (taskqueue.hand).
create sequence taskqueue.entry_id;
comment on sequence taskqueue.entry_id is 'Numbers of the stays of jobs in TaskQueues (taskqueue.job.entry_id).';

--: Waiting jobs.
create table taskqueue.job (
  setup         text not null,
  job_id        bigint not null check (job_id > 0),
  task_queue_id bigint not null,  --: TaskQueue in which the job waits.
  user_priority smallint not null check (user_priority between 0 and 10),
  held          boolean not null default false,  --: Whether the job is held: it is not matched until it is resumed.
  attempts      int not null default 0,  --: How often it was matched before.
  --: How often its lease expired before a report, or its instance was lost, since its insertion.
  losses        smallint not null default 0,
  failures      smallint not null default 0,  --: How often a retry rule tried the job again.
  last_token    uuid,  --: Token of the last attempt that failed before such a retry; null if there is none.
  avoid         text,  --: Host that the job avoids for a time (taskqueue.host_at); null if there is none.
  avoid_until   timestamptz,  --: When the job no longer avoids the host.
  --: When the hold of a retry rule ends, so that the job can be matched; null if no retry rule holds the job.
  not_before    timestamptz,
  inserted_at   timestamptz not null,  --: The time since when the job has been waiting.
  brokered      boolean not null default false,  --: Whether it is a job of workload.job, whose status follows.
  --: Number of its stay in the TaskQueue: an insertion, a move, a hold and a resumption each give another one.
  entry_id      bigint not null default nextval('taskqueue.entry_id'),
  primary key (setup, job_id),
  foreign key (setup, task_queue_id) references taskqueue.task_queue
) with (fillfactor = 100, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index job_order on taskqueue.job (setup, task_queue_id, held, user_priority, job_id);
-- This index is for lists of held jobs, which are few.
create index job_held on taskqueue.job (setup, job_id) where held;
create index job_not_before on taskqueue.job (setup, not_before) where not_before is not null;
alter table taskqueue.job alter column setup set (n_distinct = 1);

-- No foreign key: each match deletes a job. A row whose job has another entry_id is void.
--: Changes of requirements that a retry rule has decided and taskqueue.change_due has not made yet (RETRIES.md,
--: Changes).
create table taskqueue.pending_change (
  setup         text not null,
  job_id        bigint not null,
  entry_id      bigint not null,  --: taskqueue.job.entry_id of the held job.
  retry_rule    text not null,  --: Retry rule that decided, with its decision and changes (taskqueue.shown_retry_rule).
  memory_factor numeric,  --: Factor of MinRAM and MaxRAM; null = unchanged.
  time_factor   numeric,  --: Factor of CPUTime; null = unchanged.
  site          text,  --: Site that is added to BannedSites; null = none.
  ram_used      real,  --: Memory that the failed run used, MB, for a job without MinRAM; null if it is not known.
  primary key (setup, job_id, entry_id)
);
alter table taskqueue.pending_change alter column setup set (n_distinct = 1);

-- No foreign key: dealing would lock the TaskQueue's row.
--: The hand of a TaskQueue: its next jobs, drawn ahead (HANDS.md), and its waiting jobs that are not held, counted by
--: user priority as of the same snapshot. job_count_change has the changes since then (taskqueue.job_level). A
--: TaskQueue has one hand; a new one takes the place of the old one in one transaction. It is derived from job.
create table taskqueue.hand (
  setup           text not null,
  task_queue_id   bigint not null,
  --: Number of the hand; the newest hand has the highest one.
  hand_id         bigint not null generated always as identity,
  --: The hand with which its cards began: a hand that continues another one has the same number here.
  begun_id        bigint,
  known_to        xid8 not null,  --: Changes made in this transaction or a later one are not counted here.
  in_flight       xid8[] not null,  --: Changes made in these transactions are not counted here either.
  --: The earliest transaction of known_to and in_flight. taskqueue.match_job compares it: if a change was made in this
  --: transaction or a later one, the hand may be void. Null if in_flight goes too far back for this test.
  since           xid8,
  jobs            bigint[] not null check (cardinality(jobs) = 11),  --: Jobs with user priority 0, 1, ..., 10.
  --: An id per user priority, below which there is no counted job; null if there was none. A draw starts there and does
  --: not read the remains of jobs taken before.
  first_ids       bigint[] not null check (cardinality(first_ids) = 11),
  --: Number of jobs that can be taken from the hand; they are the first entries of job_ids.
  cards           int not null default 0,
  drawn           int not null default 0,  --: How many of these cards were drawn when the hand was dealt.
  --: How many hands in a row became void by arrivals before four of their cards were taken; counted up to 5.
  vain            smallint not null default 0,
  rest            bigint not null default 0,  --: Waiting jobs that are neither held nor in job_ids.
  --: The cards in the order in which they are taken; after them jobs that were being taken when the hand was dealt.
  job_ids         bigint[] not null default '{}',
  entry_ids       bigint[] not null default '{}',  --: taskqueue.job.entry_id of each job in job_ids.
  user_priorities smallint[] not null default '{}',  --: User priority of each job in job_ids.
  --: The place (ctid) of the row of each card in taskqueue.job when the hand was dealt.
  addresses       tid[] not null default '{}',
  primary key (setup, task_queue_id, hand_id)
) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
alter table taskqueue.hand alter column setup set (n_distinct = 1);

--: A job that a match took out of waiting, and the hand of which it was a card.
create type taskqueue.card as (
  job_id        bigint,  --: Job; null if there was none to take.
  user_priority smallint,  --: User priority of the job.
  attempt       int,  --: Number of the attempt that begins.
  losses        smallint,  --: taskqueue.job.losses of the job.
  failures      smallint,  --: taskqueue.job.failures of the job.
  last_token    uuid,  --: taskqueue.job.last_token of the job.
  avoid         text,  --: taskqueue.job.avoid of the job.
  avoid_until   timestamptz,  --: taskqueue.job.avoid_until of the job.
  brokered      boolean,  --: Whether it is a job of workload.job.
  entry_id      bigint,  --: The taskqueue.job.entry_id of the job.
  place         int,  --: Place of the job in the hand, from 1; null if it was drawn without a hand.
  hand_id       bigint,  --: Hand.
  begun_id      bigint,  --: taskqueue.hand.begun_id.
  cards         int,  --: Cards of the hand.
  drawn         int,  --: Number of these cards that were drawn when the hand was dealt.
  rest          bigint,  --: Jobs that were not in the hand.
  known_to      xid8,  --: Snapshot of the hand, as in taskqueue.hand.
  in_flight     xid8[],  --: Snapshot of the hand, as in taskqueue.hand.
  address       tid,  --: The place (ctid) of the row of the job.
  since         xid8  --: As in taskqueue.hand.
);

--: Changes of the number of waiting jobs of a TaskQueue. Rows are appended, so that no agent waits for another on a
--: counter. A match that takes the next card of a hand writes none. taskqueue.deal_hand counts them.
create table taskqueue.job_count_change (
  setup         text not null,
  task_queue_id bigint not null,
  made_in       xid8 not null default pg_current_xact_id(),  --: Transaction that wrote the row.
  user_priority smallint not null,
  --: Number of jobs added, negative for jobs taken; 0 means that a match waited a second for the next hand in vain.
  change        bigint not null,
  first_id      bigint,  --: Lowest id of the jobs added; null if there is none.
  entry_id      bigint  --: taskqueue.job.entry_id of a job that was taken. The hand may know this entry.
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index job_count_change_queue on taskqueue.job_count_change (setup, task_queue_id, made_in);
create index job_count_change_arrival on taskqueue.job_count_change (setup, made_in) where change > 0;
alter table taskqueue.job_count_change alter column setup set (n_distinct = 1);

--: Matched jobs that have not ended: the agent that has the job, the time of the match, and the token that later calls
--: must present.
create table taskqueue.lease (
  setup         text not null,
  job_id        bigint not null,
  attempt       int not null,  --: Number of this match of the job, from 1.
  losses        smallint not null default 0,  --: taskqueue.job.losses of the job.
  failures      smallint not null default 0,  --: taskqueue.job.failures of the job.
  last_token    uuid,  --: taskqueue.job.last_token of the job.
  avoid         text,  --: taskqueue.job.avoid of the job.
  avoid_until   timestamptz,  --: taskqueue.job.avoid_until of the job.
  token         uuid not null,  --: Random secret of this attempt.
  task_queue_id bigint not null,  --: TaskQueue that the job was taken from.
  definition_id bigint not null,  --: Requirements that the job had.
  user_priority smallint not null,
  --: State: matched (no report yet) or running (the agent has reported).
  state         text not null default 'matched',
  --: Site of the resource: the one that it offers, or the first that the TaskQueue accepts; null if it offers none or
  --: any.
  site          text,
  --: Computing element of the resource: the one that it offers, or the first that the TaskQueue accepts; null if it
  --: offers none or any.
  grid_ce       text,
  role_name     text not null,  --: Database role of the agent.
  matched_at    timestamptz not null,  --: When it was matched.
  reported_at   timestamptz,  --: Last report.
  expires_at    timestamptz not null,  --: When the lease expires unless the agent reports.
  --: The reason of a kill; if it is not null, the agent gets kill as the answer to its next report, with this reason.
  kill_reason   text,
  brokered      boolean not null default false,  --: Whether it is a job of workload.job, whose status follows.
  --: Request id of its match, chosen by the client; null if there is none, or if the call was for several jobs.
  request_id    uuid,
  asked         bigint,  --: Hash of the resource description that was given with the request id.
  subject       text,  --: The subject of the service that asked; null for a login of the database.
  host          text,  --: HostName of the worker node, from the first that names it; null if nobody has.
  --: Errors that the agent reported last: [{"source", "code", "text"}], at most seven (ENDS.md, Facts of ends).
  error         jsonb,
  cpu_used      real,  --: CPU time used, as the agent reported it last, seconds.
  wall_used     real,  --: Time since the start of the payload, as the agent reported it last, seconds.
  ram_used      real,  --: Largest memory used that the agent reported, MB.
  cores_used    smallint,  --: Processors used, as the agent reported it last.
  primary key (setup, job_id)
);
create index lease_matched on taskqueue.lease (setup, matched_at) where state = 'matched';
create index lease_request on taskqueue.lease (setup, request_id) where request_id is not null;
alter table taskqueue.lease alter column setup set (n_distinct = 1);

--: Ended jobs; taskqueue.forget_ended removes them. An ended id may be inserted again.
create table taskqueue.ended (
  setup         text not null,
  job_id        bigint not null,
  attempts      int not null,  --: How often the job was matched.
  token         uuid,  --: Token of the last attempt; null if the job was never matched.
  user_priority smallint not null,
  brokered      boolean not null default false,  --: Whether it was a job of workload.job; its task tries it again.
  task_queue_id bigint not null,  --: The last TaskQueue of the job.
  --: Requirements of the job (taskqueue.kept_definition), for as long as they are kept.
  definition_id bigint not null,
  --: finished, failed, cancelled or closed (PanDA's words). A search for another status skips the table.
  outcome       text not null check (outcome in ('finished', 'failed', 'cancelled', 'closed')),
  site          text,  --: Site of the last lease; null if the lease named none, or the job ended while it waited.
  ended_at      timestamptz not null,  --: When it ended.
  primary key (setup, job_id)
);
create index ended_at on taskqueue.ended (setup, ended_at);
alter table taskqueue.ended alter column setup set (n_distinct = 1);

--: Events of jobs, one row per event, partitioned by day. A match is written when its lease ends (taskqueue.match).
create table taskqueue.history (
  setup         text not null,
  at            timestamptz not null,
  job_id        bigint not null,
  attempt       int not null,  --: Attempt number; 0 = never matched.
  --: matched, running, released, held, resumed, changed, kill asked, finished, failed, cancelled, closed, retried or
  --: replaced.
  event         text not null,
  task_queue_id bigint not null,
  definition_id bigint,  --: Requirements.
  cpu_time      bigint,  --: CPU bucket, seconds; only for matches.
  owner_group   text,  --: Owner group; only for matches and for ends of waiting jobs.
  owner_dn      text,  --: Owner; only for matches and for ends of waiting jobs.
  user_priority smallint,
  site          text,  --: Site of the resource that had the job.
  grid_ce       text,  --: Computing element of the lease.
  role_name     text not null,  --: Database role that caused it.
  subject       text,  --: The subject of the service that caused the event; null for a login of the database.
  -- facts of the end of a lease (ENDS.md), on the row of the end alone
  host          text,  --: HostName of the worker node; only for ends of leases.
  error         jsonb,  --: Errors: [{"source", "code", "text"}], at most seven; only for ends of leases.
  error_class   text,  --: Class of the errors (taskqueue.error_class_of); only for failed.
  cpu_used      real,  --: CPU time used, seconds; only for ends of leases.
  wall_used     real,  --: Time that the payload ran, seconds; only for ends of leases.
  ram_used      real,  --: Largest memory used, MB; only for ends of leases.
  cores_used    smallint,  --: Processors used; only for ends of leases.
  --: Failed ends of the job or part, this one included; only for failed, if the setup had retry rules.
  failures      smallint,
  --: For failed, the retry rule that decided, with its decision; for changed, the rule and the changes it made.
  retry_rule    text,
  passive_rule  text  --: Passive retry rule that fits and comes before that rule; only for failed.
) partition by range (at);
create table taskqueue.history_default partition of taskqueue.history default;
create index history_job on taskqueue.history (setup, job_id, at);
create index history_failed on taskqueue.history (setup, at) where error_class is not null;
comment on index taskqueue.history_failed is 'Failed jobs, for the views of failures.';
create index history_at on taskqueue.history using brin (at) with (pages_per_range = 32, autosummarize = on);
comment on index taskqueue.history_at is 'Recent events of jobs, for the history of figures.';

-- No foreign key: a transaction that drops a TaskQueue would wait for the transaction that posts it.
--: TaskQueues that were opened while another transaction worked on their posting lists. They are posted by the next
--: match that finds nothing else, by one match in sixteen, or by taskqueue.maintain.
create table taskqueue.unposted (
  setup         text not null,
  task_queue_id bigint not null
);
create index unposted_setup on taskqueue.unposted (setup, task_queue_id);
alter table taskqueue.unposted alter column setup set (n_distinct = 1);

--: A resource description, parsed and checked: the offer of the resource of a JobAgent.
create type taskqueue.offer as (
  owner_dn text,  --: The owner of a private pilot; null means no condition by owner.
  owner_groups text[],  --: The groups of a private pilot; null means no condition by group.
  sharing_groups text[],  --: The members of owner_groups that have the property JobSharing.
  cpu_time bigint,  --: CPU time offered, seconds.
  sites text[],  --: Sites; null means no condition, empty = offers none.
  grid_ces text[],  --: Computing elements; null means no condition, empty = offers none.
  platforms text[],  --: Platforms, including compatible ones; null means no condition, empty = offers none.
  job_types text[],  --: Job types; null means no condition, empty = offers none.
  pilot_types text[],  --: Pilot types; empty = offers none.
  tags text[],  --: Tags offered, those for processors included; null means no condition.
  required_tags text[],  --: Tags that the TaskQueue must list.
  banned_sites text[],  --: The TaskQueue may list none of these sites.
  banned_grid_ces text[],  --: The TaskQueue may list none of these CEs.
  banned_platforms text[],  --: The TaskQueue may list none of these platforms.
  banned_job_types text[],  --: The TaskQueue may list none of these job types.
  banned_tags text[],  --: The TaskQueue may list none of these tags.
  max_ram float8,  --: Memory offered, MB; null means no condition.
  job_id bigint,  --: The only job to be matched; null means any.
  limited boolean,  --: Whether the site has limits.
  reached bigint[],  --: Limits of the site that are reached.
  --: Offered attributes. Numbers, versions and flags are as they were given, and texts are a list. A null stands for
  --: an attribute that was not given and whose absence passes.
  attributes jsonb,
  --: Version of the list of bounds by which the numbers of the description were rounded, so that the offer serves all
  --: numbers between two bounds; null means that it serves these numbers alone.
  bounds int,
  clauses_known bit varying,  --: The clauses whose truth is known, as bits of their numbers; null means none.
  clauses_held bit varying  --: The clauses that hold, as bits of their numbers, of the length of clauses_known.
);

--: Limits per site, optionally per CE, on a value of a requirement.
create table taskqueue.site_limit (
  setup     text not null references resource.setup on delete cascade,
  limit_id  bigint not null generated always as identity,  --: Limit.
  --: running: jobs there at a time; delay: time between two matches.
  kind      text not null check (kind in ('running', 'delay')),
  site      text not null check (site <> ''),  --: Site.
  grid_ce   text check (grid_ce <> ''),  --: Computing element; null means the whole site.
  attribute text not null,  --: Requirement key.
  value     text not null,  --: Value of that key; a job counts at every value that its TaskQueue lists.
  ceiling   int check (ceiling >= 0),  --: Jobs at a time; kind running.
  delay     interval check (delay >= interval '0'),  --: Time between two matches; kind delay.
  burst     int check (burst > 0),  --: Matches that may come at once after a pause; kind delay.
  next_at   timestamptz,  --: Token bucket as a clock: when the bucket is full again; kind delay.
  primary key (setup, limit_id),
  constraint site_limit_kind check (case kind when 'running' then ceiling is not null
    and delay is null else ceiling is null and delay is not null and burst is not null end),
  constraint site_limit_once unique nulls not distinct (setup, site, grid_ce, kind, attribute, value)
);

-- No foreign key, here and in limit_use: every match and every end of a job would lock the limit's row.
--: Free slots of running limits. A match takes one with SKIP LOCKED, so that a limit is exact and no transaction waits.
create table taskqueue.limit_slot (
  setup    text not null,
  limit_id bigint not null,  --: Limit.
  --: Number of the slot. A negative one is a surplus slot since the limit was lowered; it is removed together with a
  --: free slot.
  slot     int not null check (slot <> 0),
  primary key (setup, limit_id, slot)
);
alter table taskqueue.limit_slot alter column setup set (n_distinct = 1);

--: Slots of running limits that leased jobs hold. A match never looks for these rows, so that a job ends without
--: waiting.
create table taskqueue.limit_use (
  setup    text not null,
  job_id   bigint not null,
  limit_id bigint not null,  --: The limit at which the job counts.
  slot     int not null check (slot > 0),  --: Number of the slot.
  primary key (setup, job_id, limit_id),
  constraint limit_use_once unique (setup, limit_id, slot)
);
alter table taskqueue.limit_use alter column setup set (n_distinct = 1);

--: Groups whose priorities have to be recomputed; rows are appended, and taskqueue.maintain deletes them.
create table taskqueue.share_mark (
  setup       text not null,
  owner_group text not null,  --: Group.
  marked_at   timestamptz not null  --: When its TaskQueues changed.
);
create index share_mark_group on taskqueue.share_mark (setup, owner_group);

--: Factors on the shares of groups. They come from the usage in the history if the setting share_correction is on, and
--: from the tree of global shares if shares is global.
create table taskqueue.share_correction (
  setup       text not null references resource.setup on delete cascade,
  owner_group text not null,  --: Group.
  owner_dn    text not null,  --: Owner; empty = the whole group (one with JobSharing, or with a global share).
  --: Expected share divided by used share, within 1/5 to 5; with a global share, the share from the tree divided by the
  --: share of the group.
  factor      float8 not null check (factor >= 0 and factor < 'infinity'),
  primary key (setup, owner_group, owner_dn)
);

--: Answers of calls with a request id, kept for ten minutes, so that the repeated call gets the same answer. The answer
--: of a match of one job is its lease (lease.request_id); it is written here if the lease ends sooner.
create table taskqueue.request (
  setup      text not null,
  role_name  text not null,  --: Database role that asked.
  request_id uuid not null,  --: Chosen by the client.
  call       text not null,  --: Function called.
  asked      bigint not null,  --: Hash of the arguments.
  answer     jsonb not null,  --: The answer of the call.
  made_at    timestamptz not null,  --: Time.
  primary key (setup, role_name, request_id)
);
alter table taskqueue.request alter column setup set (n_distinct = 1);

create sequence taskqueue.known_id;
comment on sequence taskqueue.known_id is 'Numbers of parsed descriptions (taskqueue.parsed_description.known_id).';

--: How often the jobs of each worker node and of each family of jobs fail (GUARD.md). The guard deletes a row a day
--: after the last end that the row counts.
create table taskqueue.health (
  setup      text not null references resource.setup on delete cascade,
  kind       text not null check (kind in ('host', 'family')),  --: host or family.
  site       text not null,  --: Site of the worker node; empty for families and if the leases name no site.
  --: Name of the worker node, or of the family: "task 7" for a task, else the family of the definition.
  name       text not null,
  --: Score of the worker node: the more often its jobs fail than the same jobs elsewhere, the higher; 0 for families.
  score      float8 not null default 0,
  --: Ends of jobs. A worker node counts ends since its score was last 0; each end of a family multiplies this by 0.999.
  ends       float8 not null,
  failures   float8 not null,  --: Number of these ends that failed.
  --: Failures that would be usual for these jobs of the worker node; 0 for families.
  usual      float8 not null default 0,
  changed_at timestamptz not null,  --: When an end was last counted.
  --: When the worker node got the first of the failed jobs since its score was last 0.
  failing_since timestamptz,
  primary key (setup, kind, site, name)
) with (fillfactor = 70);

--: How far taskqueue.guard has read the history of a setup. A transaction is given by its xid8 as a bigint.
create table taskqueue.guard_mark (
  setup    text primary key references resource.setup on delete cascade,
  known_to bigint not null,  --: All ends of earlier transactions are counted.
  counted  bigint[] not null default '{}',  --: Later transactions whose ends are counted too.
  since    timestamptz not null,  --: Transactions from known_to on made their first change after this time.
  next_to  bigint not null,  --: A later transaction, whose time is next_at.
  next_at  timestamptz not null,  --: Transactions from next_to on made their first change after this time.
  read_at  timestamptz not null  --: When the history was last read.
);

--: Quarantined worker nodes, computing elements and sites, which get no job. The table also has worker nodes that the
--: guard would refuse, and sites that it names (GUARD.md).
create table taskqueue.quarantine (
  setup         text not null references resource.setup on delete cascade,
  site          text not null,  --: Site; empty for a worker node whose requests name no site.
  kind          text not null check (kind in ('host', 'ce', 'site')),  --: host, ce or site.
  name          text not null,  --: Name of the worker node, computing element or site.
  since         timestamptz not null,  --: When the quarantine or the row began.
  why           text not null,  --: Reason.
  --: Whether its requests are refused. If not, the guard only watches the worker node, since the setting guard is watch
  --: or too many worker nodes of the site fail; or the row is a site that the guard names.
  locks         boolean not null,
  is_automatic  boolean not null,  --: Whether the guard made the row and will lift it; if not, an operator made it.
  next_probe_at timestamptz,  --: When the worker node may get a job as the next probe; null = no probe is planned.
  pause         interval,  --: Time between two probes; only for worker nodes that the guard refuses.
  probe_job_id  bigint,  --: Job that is the present probe; null = none.
  probe_attempt int,  --: Attempt of that job.
  probed_at     timestamptz,  --: When the last probe was matched.
  primary key (setup, site, name, kind)
) with (fillfactor = 70);

--: An end that taskqueue.guard counts.
create type taskqueue.counted_end as (
  at          timestamptz,  --: Time of the end.
  job_id      bigint,  --: Job.
  attempt     int,  --: Number of the attempt.
  site        text,  --: Site of the lease, or empty.
  host        text,  --: Worker node; null if it is not known, or if the end does not count for a worker node.
  family      text,  --: Task or family of the job.
  failed      boolean,  --: Whether the job failed.
  of_family   boolean,  --: Whether the end counts for the family.
  error_class text,  --: Class of the failure.
  matched_at  timestamptz  --: When the worker node got the failed job; null for a good end.
);

--: Resource descriptions as they were parsed, so that the next request with the same description is fast. The table is
--: unlogged. A row is removed when a configuration changes (taskqueue.forget_descriptions), or when it was not noted
--: for a day.
create unlogged table taskqueue.parsed_description (
  setup       text not null,
  known_id    bigint not null unique default nextval('taskqueue.known_id'),  --: Description.
  digest      bigint not null,  --: Hash of the description.
  resource    jsonb not null,  --: The description without CPUTime and JobID.
  owner_group text,  --: Owner group of the identity that asked; null means generic, or bound to an owner alone.
  owner_dn    text,  --: Owner of the identity that asked; null means generic, or bound to a group alone.
  offer       taskqueue.offer not null,  --: The parsed description.
  --: Whether taskqueue.match_job can serve the description: two posting lists hold every TaskQueue that it may see, and
  --: it offers at most one CE.
  is_plain    boolean not null,
  --: Site of the first of these lists: the site offered, or empty for the list of every TaskQueue.
  site_1      text not null,
  site_2      text,  --: Site of the second list: *, the list of TaskQueues that name no site.
  site        text,  --: The site offered, if it is exactly one.
  grid_ce     text,  --: The CE offered, if it is exactly one.
  --: The demands of a definition (as bits) that this offer may not meet. Site, BannedSites, Platform and Tag are
  --: compared in any case. Bit 1: all conditions have to be tested. Bit 32: the site has limits.
  tests       int not null,
  cpu_buckets float8[] not null,  --: CPU buckets of the setup, ascending.
  ten_first   boolean not null,  --: Setting of the setup.
  policy      text not null,  --: Setting of the setup.
  lease_time  interval not null,  --: Setting of the setup.
  --: Whether an offered site, or a CE or worker node of an offered site, is quarantined (taskqueue.mark_guarded).
  guarded     boolean not null,
  seen_at     timestamptz,  --: When taskqueue.note_resource last noted it.
  seen        bigint[] not null default '{}',  --: CPU buckets with which it was noted.
  --: How many definitions match the description whatever its CPUTime, if they are kept (taskqueue.known_match); null if
  --: they were not searched yet, or are too many.
  matches     int,
  matched_at  timestamptz,  --: When the matching definitions were searched.
  known_to    xid8,  --: The search did not see definitions made in this transaction or a later one.
  in_flight   xid8[]  --: The search did not see definitions made in these transactions either.
) with (fillfactor = 70);
create index parsed_description_digest on taskqueue.parsed_description (setup, digest);
create index parsed_description_guarded on taskqueue.parsed_description (setup) where guarded;
alter table taskqueue.parsed_description alter column setup set (n_distinct = 1);

--: Conditions of requirements and the form that they had (taskqueue.known_clauses). Unlogged; rows are removed after an
--: hour and when a configuration changes (taskqueue.forget_descriptions).
create unlogged table taskqueue.known_condition (
  setup   text not null,
  digest  bigint not null,  --: Hash of the given keys.
  given   jsonb not null,  --: Sites, Tags, TagExpression, Attributes, Alternatives and Clauses, as they were given.
  form    jsonb not null,  --: The result of taskqueue.normal_clauses.
  made_at timestamptz not null  --: When the form was made.
);
create index known_condition_digest on taskqueue.known_condition (setup, digest);
alter table taskqueue.known_condition alter column setup set (n_distinct = 1);

--: The definitions that match a description, by CPU bucket, for descriptions that few definitions match. Unlogged.
create unlogged table taskqueue.known_match (
  known_id       bigint not null references taskqueue.parsed_description (known_id) on delete cascade,  --: Description.
  cpu_time       bigint not null,  --: CPU bucket of the definitions, seconds.
  definition_ids bigint[] not null,  --: Definitions.
  primary key (known_id, cpu_time)
);

--: A sample of the resource descriptions of requests: at most one row per kind in ten seconds. The table is unlogged;
--: taskqueue.maintain rolls it up.
create unlogged table taskqueue.resource_seen (
  setup    text not null,
  class    uuid not null,  --: md5 of the canonical description, CPUTime as bucket, without JobID.
  seen_at  timestamptz not null,  --: Time.
  matched  boolean not null,  --: Whether the sampled request got a job.
  resource jsonb not null,  --: Canonical description.
  definition_id bigint  --: Definition of the job that it got; null if it got no job, or the job was not noted.
);
create index resource_seen_class on taskqueue.resource_seen (setup, class, seen_at desc);
alter table taskqueue.resource_seen alter column setup set (n_distinct = 1);

--: Kinds of resources that asked: the 10,000 of each setup that were seen last.
create table taskqueue.resource_class (
  setup      text not null references resource.setup on delete cascade,
  class      uuid not null,  --: Class.
  resource   jsonb not null,  --: Canonical description.
  first_seen timestamptz not null,  --: Time when it was first seen.
  last_seen  timestamptz not null,  --: Time when it was last seen.
  samples    bigint not null,  --: Number of sampled ten-second windows in which a resource of this kind asked.
  matched    bigint not null,  --: Number of these windows whose sampled request got a job.
  matched_at timestamptz,  --: When a sampled request of this kind last got a job whose definition is noted.
  definition_id bigint,  --: The definition of that job.
  other_matched_at timestamptz,  --: When a sampled request of this kind last got a job of another definition.
  primary key (setup, class)
);

--: Kinds of resources as they were parsed, without limits, for taskqueue.find_reasons. A kind without a row is new to
--: it. The table is unlogged; rows are removed when a configuration changes (taskqueue.forget_descriptions).
create unlogged table taskqueue.kind_offer (
  setup text not null,
  class uuid not null,  --: Kind of resource.
  offer taskqueue.offer,  --: The parsed description without limits; null if it would be refused now.
  primary key (setup, class),
  foreign key (setup, class) references taskqueue.resource_class on delete cascade
);
alter table taskqueue.kind_offer alter column setup set (n_distinct = 1);

--: Why the jobs of a definition wait, as far as the reason is the same for all of them (taskqueue.find_reasons);
--: taskqueue.reason_of has the reason of a single job.
create table taskqueue.waiting_reason (
  setup         text not null references resource.setup on delete cascade,
  definition_id bigint not null,  --: Definition of TaskQueues with jobs.
  --: The reason in one word: misconfigured, too_large, limited, no_resource_seen or waiting.
  reason        text not null
    check (reason in ('misconfigured', 'too_large', 'limited', 'no_resource_seen', 'waiting')),
  --: Kind of resource that fits, or for too_large the one that comes nearest; null if there is none.
  class         uuid,
  found_at      timestamptz,  --: When the reason was found; null if the configuration has changed since.
  primary key (setup, definition_id)
) with (fillfactor = 70);
alter table taskqueue.waiting_reason alter column setup set (n_distinct = 1);

--: Waiting jobs by reason, counted by taskqueue.summarize_waiting.
create table taskqueue.waiting_summary (
  setup       text not null references resource.setup on delete cascade,
  owner_group text not null,  --: OwnerGroup of the jobs.
  cpu_time    bigint not null,  --: CPU bucket of the jobs, seconds.
  reason      text not null,  --: Why they wait (taskqueue.reason_of).
  jobs        bigint not null,  --: Jobs.
  task_queues bigint not null,  --: Number of TaskQueues whose oldest job that is not held is among these jobs.
  oldest_at   timestamptz not null,  --: When the oldest of them was inserted.
  primary key (setup, owner_group, cpu_time, reason)
) with (fillfactor = 50);

--: Waiting jobs by the sites that may run them, counted by taskqueue.summarize_waiting. Jobs that list several sites
--: count at each of them.
create table taskqueue.waiting_site_summary (
  setup  text not null references resource.setup on delete cascade,
  site   text not null,  --: Site; '*' if the jobs list none.
  reason text not null,  --: Why they wait (taskqueue.reason_of).
  jobs   bigint not null,  --: Jobs.
  primary key (setup, site, reason)
) with (fillfactor = 50);

--: When the waiting jobs of a setup were counted (taskqueue.summarize_waiting).
create table taskqueue.summary (
  setup      text primary key references resource.setup on delete cascade,
  counted_at timestamptz not null,  --: Time (resource.clock).
  took       interval not null,  --: Duration of the count.
  due_at     timestamptz not null  --: The earliest time of the next count, by the clock of the server.
) with (fillfactor = 50);

--: Requirements of TaskQueues that are lists, one row per value, with a partition for each attribute. A query should
--: name the attribute or the partition; otherwise it locks all of them.
create table taskqueue.task_queue_requirement (
  setup         text not null,
  task_queue_id bigint not null,
  attribute     text not null,  --: Key of the requirement, for example Sites.
  value         text not null check (value <> ''),  --: One value of its list.
  primary key (setup, task_queue_id, attribute, value),
  foreign key (setup, task_queue_id) references taskqueue.task_queue on delete cascade
) partition by list (attribute);
create index task_queue_requirement_value on taskqueue.task_queue_requirement (setup, value);

--: Pools used to submit pilots for the jobs. Pilot submission reads them, matching does not.
create table taskqueue.task_queue_submit_pool partition of taskqueue.task_queue_requirement
  for values in ('SubmitPools');
--: Grid middlewares of the pilots. Pilot submission reads them, matching does not.
create table taskqueue.task_queue_grid_middleware partition of taskqueue.task_queue_requirement
  for values in ('GridMiddlewares');
--: Pilot types that may run the jobs, for example private; no row = any.
create table taskqueue.task_queue_pilot_type partition of taskqueue.task_queue_requirement
  for values in ('PilotTypes');
--: Sites that may run the jobs; no row = any.
create table taskqueue.task_queue_site partition of taskqueue.task_queue_requirement
  for values in ('Sites');
--: Sites that may not run the jobs.
create table taskqueue.task_queue_banned_site partition of taskqueue.task_queue_requirement
  for values in ('BannedSites');
--: Computing elements that may run the jobs; no row = any.
create table taskqueue.task_queue_grid_ce partition of taskqueue.task_queue_requirement
  for values in ('GridCEs');
--: Platforms that may run the jobs; no row = any.
create table taskqueue.task_queue_platform partition of taskqueue.task_queue_requirement
  for values in ('Platforms');
--: Types of the jobs; no row = any.
create table taskqueue.task_queue_job_type partition of taskqueue.task_queue_requirement
  for values in ('JobTypes');
--: Tags that the resource must offer.
create table taskqueue.task_queue_tag partition of taskqueue.task_queue_requirement
  for values in ('Tags');
--: Clauses that must hold, as JSON (CLAUSES.md).
create table taskqueue.task_queue_clause partition of taskqueue.task_queue_requirement
  for values in ('Clauses');

--: A requested job with its own random stream and the progress of its draws (taskqueue.new_stream).
create type taskqueue.stream as (
  number int,  --: Number of the job among those asked for together, from 1.
  request int,  --: Number of the request that asks for the job, and of the description of its resource.
  token uuid,  --: Token of the attempt.
  seed bigint,  --: Seed of its draws.
  is_seeded boolean,  --: Whether the caller gave the seed; if so, the job is drawn without the hand.
  --: Whether its TaskQueue depends on the jobs before it (because of a limit, a JobID or a given seed).
  goes_alone boolean,
  bucket_index int,  --: Number of the CPU bucket in which a TaskQueue is drawn; 0 = all buckets are exhausted.
  tries int,  --: Candidates drawn in that bucket (taskqueue.next_candidate).
  max_tries int,  --: Candidates after which the rest of the bucket is drawn with a key per TaskQueue.
  last_key float8,  --: Key of the last candidate.
  is_listed boolean,  --: Whether there were TaskQueues that the offered sites may see.
  passed bigint[],  --: TaskQueues that gave no job.
  task_queue_id bigint,  --: TaskQueue that was drawn, from which a job is to be taken; null if there is none yet.
  definition_id bigint,  --: Definition of that TaskQueue.
  slots jsonb,  --: Slots of limits that are locked for the job (taskqueue.lock_slots).
  card taskqueue.card  --: Job that was taken.
);

--: A request of taskqueue.match_many after it was read.
create type taskqueue.match_request as (
  number     int,  --: Number of the request, from 1.
  resources  jsonb,  --: Descriptions of its resource, in the order of preference.
  jobs       int,  --: Number of jobs that it asks for.
  request_id uuid,  --: Id that the client chose; null if there is none, or if the id is refused.
  subject    text,  --: The subject of the service that asks; null for a login of the database.
  error      jsonb  --: The error that refuses the request: {code, message, hint}; null if it is not refused.
);

--: The caller that asks for a job.
create type taskqueue.asker as (
  request_id uuid,  --: Id that the client chose, under which the lease keeps the answer; null if there is none.
  asked      bigint,  --: Hash of the resource description that was given with the request id.
  subject    text,  --: The subject of the service that asks; null for a login of the database.
  host       text,  --: HostName of the resource description; null if it has none.
  hosts      text[]  --: The host at each offered site (taskqueue.hosts_at); null if it has no host.
);

--: Facts of the run of a job, as its agent gives them with a report or with the end; null fields are not known.
create type taskqueue.run_facts as (
  host       text,  --: HostName of the worker node.
  error      jsonb,  --: Errors: [{"source", "code", "text"}], at most seven.
  cpu_used   real,  --: CPU time used, seconds.
  wall_used  real,  --: Time since the start of the payload, seconds.
  ram_used   real,  --: Largest memory used, MB.
  cores_used smallint,  --: Processors used.
  fault      text  --: Why the given facts are refused, with the key and the value; null if they are not.
);

--: A lease and its event.
create type taskqueue.lease_event as (
  lease       taskqueue.lease,  --: The lease before the event, locked.
  event       text,  --: The event as in taskqueue.history; for a report its status, or null for a heartbeat.
  subject     text,  --: The subject of the service that causes the event; null for the caller.
  why         text,  --: The reason to write into the history of a brokered job; null means the usual one.
  facts       taskqueue.run_facts,  --: Facts that come with the event; null means none.
  --: Class of a failed end. Before taskqueue.judge_ends, only ends that no agent reported have a class.
  error_class text,
  verdict     taskqueue.verdict  --: Verdict of the retry rules on a failed end (taskqueue.judge_ends).
);

--: A job that a request got (taskqueue.match_many), or why the request is refused.
create type taskqueue.answer as (
  request       int,  --: Number of the request, from 1.
  job_id        bigint,  --: Job; null if the request is refused.
  task_queue_id bigint,  --: TaskQueue that it was taken from.
  requirements  jsonb,  --: Requirements of the job.
  user_priority int,  --: User priority of the job.
  attempt       text,  --: Attempt of the job, which later calls about the job present.
  error         jsonb  --: The error of a refused request: {code, message, hint}.
);

--: Number of TaskQueues of an owner, and the sum of their mean weights / siblings; both are sums over the rows. A
--: change appends a row in the same transaction; taskqueue.fold_weights reduces the rows. Derived from task_queue.
create table taskqueue.owner_weight (
  setup       text not null,
  owner_group text not null,  --: OwnerGroup of the TaskQueues.
  owner_dn    text not null,  --: OwnerDN of the TaskQueues.
  light       boolean not null,  --: Whether the mean weight is at most 0.1: background where the group allows it.
  task_queues      bigint not null,  --: Number of TaskQueues; in a change, how many more or fewer.
  --: Sum of their mean weights / siblings, or its change. The type is numeric, so that a removal subtracts exactly the
  --: amount that was added.
  weight      numeric not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index owner_weight_owner on taskqueue.owner_weight (setup, owner_group, owner_dn);
alter table taskqueue.owner_weight alter column setup set (n_distinct = 1);
