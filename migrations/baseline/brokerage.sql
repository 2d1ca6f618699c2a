-- The tables of the schema brokerage as release 0.1.0 has them; revisions change them.

create schema brokerage;
comment on schema brokerage is
  'Candidates, rules, weights, profiles and decisions; early binding. Uses resource, workload.';

create schema brokerage_compiled;
comment on schema brokerage_compiled is
  'Queries of the profiles as functions, made by brokerage.compile_profiles.';

--: Settings of brokerage, one row for each setup that changes a default.
create table brokerage.setting (
  setup             text primary key references resource.setup on delete cascade,
  profile           text not null default 'documented',  --: Profile that decides if a call names none.
  --: How long decisions are kept; counts by rule and queue stay.
  decisions_kept    interval not null default '2 days'
    check (decisions_kept > interval '0' and decisions_kept <= interval '100 years'),
  --: How long runs and counts by rule and queue are kept.
  counts_kept       interval not null default '30 days'
    check (counts_kept > interval '0' and counts_kept <= interval '100 years'),
  --: How long an assignment counts in the live counter.
  assignments_count interval not null default '15 minutes'
    check (assignments_count > interval '0' and assignments_count <= interval '100 years'),
  --: Whether the facts of real runs are kept as long as their decisions, for brokerage.replay.
  keep_facts        boolean not null default true,
  --: How long a replay may take.
  replay_time       interval not null default '2 minutes'
    check (replay_time > interval '0' and replay_time <= interval '100 years'),
  --: Whether assigned jobs are made in this database (workload.job), as defined; false = they are made elsewhere, and
  --: assigned jobs count for assignments_count.
  makes_jobs        boolean not null default true,
  --: Most jobs of a task; a load of a task that would make more is refused.
  most_jobs         int not null default 1000000 check (most_jobs between 1 and 1000000000)
);
comment on constraint setting_most_jobs_check on brokerage.setting is '1 to 1000000000';

--: Trials. In a trial, another profile decides a share of the tasks of a setup, for comparison.
create table brokerage.trial (
  setup    text not null references resource.setup on delete cascade,
  trial    bigint not null generated always as identity,  --: Number of the trial.
  profile  text not null,  --: Profile that decides the tasks of the arm trial.
  control  text not null,  --: Profile of the setup: it decides all other tasks, the arm control.
  share    float8 not null check (share > 0 and share < 1),  --: Share of the tasks in the arm trial.
  salt     bigint not null,  --: The salt of the hash that gives each task id its arm (brokerage.arm_of).
  began_at timestamptz not null,  --: When the trial began (resource.clock).
  began_by text not null,  --: Database role that began the trial.
  ended_at timestamptz,  --: When the trial ended; null if it is under way.
  ended_by text,  --: Database role that ended the trial.
  primary key (setup, trial)
);
create unique index trial_open on brokerage.trial (setup) where ended_at is null;
comment on index brokerage.trial_open is 'A setup has one trial at a time.';

--: Runs of the brokers, one row per call.
create table brokerage.run (
  setup      text not null references resource.setup on delete cascade,
  run_id     bigint not null generated always as identity,  --: Number of the run.
  algorithm  text,  --: production_job, analysis_job or production_task.
  profile    text,  --: Profile that decided; in a trial, the one of the arm control.
  trial      bigint,  --: Trial that was under way; null if there is none, or the call named a profile.
  seed       bigint not null,  --: Seed of the draws.
  dry        boolean,  --: Whether the run stored decisions only.
  called_by  text,  --: Database role of the caller.
  started_at timestamptz,  --: When the run began (resource.clock).
  ended_at   timestamptz,  --: When the run ended; null if it is under way or was interrupted.
  tasks      bigint default 0 check (tasks > -1e15 and tasks < 1e15),  --: Tasks decided so far.
  primary key (setup, run_id),
  foreign key (setup, trial) references brokerage.trial
);

--: The decision of a run about a task.
create table brokerage.task_decision (
  setup          text not null references resource.setup on delete cascade,
  run_id         bigint not null,
  task_id        bigint not null,
  decided_at     timestamptz,  --: Time (resource.clock).
  --: candidates, pending, throttled, failed, or error: the task could not be evaluated.
  status         text check (status in ('candidates', 'pending', 'throttled', 'failed', 'error')),
  rule           text,  --: Rule that throttled or failed the whole task, or raised its error; null if there is none.
  reason         text,  --: The reason why the task was throttled or failed, or the error, in words.
  errcode        text,  --: SQLSTATE of an error.
  retry_at       timestamptz,  --: When a pending task is brokered again.
  candidates     int check (candidates > -1e9 and candidates < 1e9),  --: Queues that may take its jobs.
  rejected       int check (rejected > -1e9 and rejected < 1e9),  --: Queues that were rejected.
  not_candidates int check (not_candidates > -1e9 and not_candidates < 1e9),  --: Queues that never entered the list.
  nucleus        text,  --: Nucleus to which the task was sent; null if there is none.
  --: Arm of the trial: control (the profile of the run) or trial (the other one); null if no trial was under way.
  arm            text check (arm in ('control', 'trial')),
  --: Changes that retry rules made to the brokered parts (workload.changes_of_part); null = parts without changes.
  changes        text,
  primary key (setup, run_id, task_id),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);
create index task_decision_task on brokerage.task_decision (setup, task_id, run_id);

--: Numbers of tasks that a rule rejected at a queue in a run; they are kept when the decisions are gone.
create table brokerage.rejection_count (
  setup  text not null references resource.setup on delete cascade,
  run_id bigint not null,
  rule   text not null,  --: Rule.
  queue  text not null,
  tasks  bigint check (tasks > -1e15 and tasks < 1e15),  --: Number of tasks.
  primary key (setup, run_id, rule, queue),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);

--: State of a task in brokerage; a task that was never brokered has no row.
create table brokerage.task_state (
  setup         text not null references resource.setup on delete cascade,
  task_id       bigint not null,
  run_id        bigint,  --: Last run that decided the task.
  retry_at      timestamptz,  --: The task is pending until this time; null if it is not pending.
  assigned_jobs bigint default 0 check (assigned_jobs > -1e15 and assigned_jobs < 1e15),  --: Jobs assigned so far.
  --: Broker that decided the task last: production_job, analysis_job or production_task.
  algorithm     text not null default 'production_job',
  --: When rule user-cap or user-throttle last throttled the task. Any other decision but one by user-release clears it.
  throttled_at  timestamptz,
  primary key (setup, task_id, algorithm)
);

--: Answers to what-if questions, as of the time of the question (brokerage.keep_what_if). The last 100 of a setup are
--: kept.
create table brokerage.what_if (
  setup      text not null references resource.setup on delete cascade,
  what_if_id bigint not null generated always as identity,  --: Number of the answer.
  asked_at   timestamptz not null,  --: Time (resource.clock).
  asked_by   text not null,  --: The subject of the service that asked, else the database role.
  change     jsonb not null,  --: The change that was asked about.
  difference jsonb not null,  --: The answer.
  primary key (setup, what_if_id)
);

--: The reasons why tasks wait, from the last decision about each (brokerage.find_reasons); brokerage.task_reason has
--: the reason of every task that waits.
create table brokerage.waiting_reason (
  setup     text not null references resource.setup on delete cascade,
  task_id   bigint not null,  --: Task.
  algorithm text not null,  --: Broker: production_job, analysis_job or production_task.
  run_id    bigint not null,  --: Run whose decision was looked at.
  --: The reason in one word: misconfigured, too_large, input_missing, no_queue_accepts, limited or throttled.
  reason    text not null
    check (reason in ('misconfigured', 'too_large', 'input_missing', 'no_queue_accepts', 'limited',
                      'throttled')),
  rule      text,  --: Rule that rejected the queue which comes nearest, or the whole task; null if there is none.
  --: The queue (or nucleus) that comes nearest, among those that this rule rejected; null if there is none.
  queue     text,
  queues    bigint,  --: Number of queues that this rule rejected; null if there is no such rule.
  most_rule text,  --: Rule that rejected the most queues; null if there is none.
  rejected  bigint,  --: Number of queues that most_rule rejected; null if there is no such rule.
  places    bigint,  --: Number of queues (or nuclei) that were candidates before any rule; null if there is none.
  primary key (setup, task_id, algorithm)
);

--: Jobs of tasks that were assigned to queues.
create table brokerage.assignment (
  setup   text not null references resource.setup on delete cascade,
  run_id  bigint not null,
  task_id bigint not null,
  queue   text not null,  --: Queue, or pseudo-queue of a unified one.
  jobs    bigint check (jobs > -1e15 and jobs < 1e15),
  --: Share of the bytes of the task's input that was not on disk at the queue; null if it has no input.
  remote  float8,
  primary key (setup, run_id, task_id, queue),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);

--: Jobs that brokers assigned and that no statistics count yet. Rows are appended, and summed by queue. All brokers
--: read them.
create table brokerage.live_counter (
  setup      text not null references resource.setup on delete cascade,
  number     bigint not null generated always as identity,  --: Number of the row.
  queue      text,  --: Unified queue.
  jobs       bigint check (jobs > -1e15 and jobs < 1e15) constraint live_counter_jobs_allowed check (jobs >= 0),
  --: When they were assigned; null for a row that was loaded with a world, which counts until it is replaced.
  counted_at timestamptz,
  primary key (setup, number)
);
create index live_counter_queue on brokerage.live_counter (setup, queue);

-- The table has no setup: a profile applies in all setups.
--: Profiles of an organisation's own; documented and panda2026 come with the program (brokerage.shipped_rule).
create table brokerage.profile (
  profile     text primary key check (profile <> ''),  --: Name.
  --: The profile on which it is based: it has the same rules, except for changes in brokerage.profile_rule.
  based_on    text not null default 'documented',
  description text not null default '',  --: Purpose.
  check (based_on <> profile)
);

--: Rules of an organisation's own: a row adds a rule to a profile, or changes a rule that the profile has. A column
--: that is null changes nothing. brokerage.rule_in_force shows the result.
create table brokerage.profile_rule (
  profile    text not null,  --: Profile; the shipped profiles documented and panda2026 may also be changed.
  --: production_job, analysis_job or production_task.
  algorithm  text not null check (algorithm in ('production_job', 'analysis_job', 'production_task')),
  rule       text not null check (rule ~ '^[a-z0-9][a-z0-9-]*$'),  --: Rule id.
  --: task rule: may throttle or fail the whole task; candidate: decides which queues enter the list; row rule: rejects
  --: a queue; set rule: a row rule that holds only if some queue of the task passes it; second pass: decides whether a
  --: task without a queue is decided once more; weight: a factor; choice: keeps the best; distribution: a number by
  --: which jobs are distributed; pending: the time until a task without a queue is tried again; fact: the function or
  --: view that prepares a fact.
  kind       text
    check (kind in ('task rule', 'candidate', 'row rule', 'set rule', 'weight', 'choice', 'distribution', 'pending',
      'fact', 'second pass')),
  position   float8,  --: Order within the algorithm.
  --: Schema and name of the function. Its arguments are task facts, queue facts and pair facts (only task facts for a
  --: task rule), and perhaps the parameters.
  function   text,
  --: PanDA's criteria tag, such as -status; null if there is none, or if reasons begin with a tag of their own.
  criteria   text check (criteria ~ '^[-+][A-Za-z0-9_]+$'),
  temporary  boolean,  --: Whether the problem may pass by itself.
  enabled    boolean,  --: Whether the rule applies.
  --: Parameters of the function. as: the rule id that decisions name instead. A choice has best, the number of queues
  --: that it keeps; a task rule has status, throttled or failed; a pending rule has wait, an interval, also by
  --: priority.
  parameters jsonb check (jsonb_typeof(parameters) = 'object'),
  source     text,  --: Page and heading that describe the rule, relative to sql/brokerage; or the name of its owner.
  primary key (profile, algorithm, rule)
);
comment on constraint profile_rule_rule_check on brokerage.profile_rule is 'lower case letters, digits and hyphens';
comment on constraint profile_rule_kind_check on brokerage.profile_rule is
  'task rule, candidate, row rule, set rule, second pass, weight, choice, distribution, pending or fact';
comment on constraint profile_rule_criteria_check on brokerage.profile_rule is 'a tag of PanDA''s, such as -status';
comment on constraint profile_rule_parameters_check on brokerage.profile_rule is 'an object';

--: The decision of a run about a queue.
create type brokerage.queue_verdict as (
  queue text,  --: Queue, or pseudo-queue of a unified one.
  verdict "char",  --: The result: c (candidate), r (rejected) or n (never entered the list).
  rank int,  --: Place of a candidate, from 1.
  weight float8,  --: Weight; null if the queue was rejected before the weights.
  factors float8[],  --: The weight's factors, in the order of the weights of the profile.
  queued bigint,  --: For a candidate: the jobs queued there, as they count when jobs are distributed.
  capacity bigint,  --: For a candidate: the number of jobs that may be queued there; null means no limit.
  chunk int,  --: For a candidate: the number of jobs that one choice takes.
  rule text,  --: Rule that rejected the queue.
  reason text  --: The reason in words, with the compared numbers; begins with the criteria tag, if there is one.
);

--: The decision about a task; a column is null if no rule that sets it was evaluated.
create type brokerage.task_answer as (
  number bigint,  --: Place among the tasks that are decided together.
  task_id bigint,  --: Task.
  status text,  --: As in brokerage.task_decision; null if the task is decided once more.
  rule text,  --: Rule that refused the whole task, or had it decided once more.
  reason text,  --: The reason in words.
  retry_at timestamptz,  --: When a pending task is brokered again.
  candidates int,  --: Queues that may take its jobs.
  rejected int,  --: Queues that were rejected.
  not_candidates int,  --: Queues that never entered the list.
  lost int[],  --: As in brokerage.verdict.
  reasons text[],  --: The reason for each of them.
  queues brokerage.queue_verdict[],  --: The other queues.
  given bigint[],  --: Number of jobs that each candidate gets, by rank; null if no jobs are distributed.
  nucleus text,  --: Nucleus to which the task is sent; null if there is none.
  probability float8  --: The probability of that choice.
);

--: A part of a run: the tasks that one query compared with the same queues.
create table brokerage.part (
  setup      text not null,
  run_id     bigint not null,
  part       bigint not null generated always as identity,  --: Number of the part.
  decided_at timestamptz not null,  --: Time (resource.clock).
  queues     text[] not null,  --: The queues, or nuclei; brokerage.verdict names rejected ones by their places here.
  primary key (setup, run_id, part),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);

--: The decision of a run about the queues of a task; brokerage.decision shows one row per queue. It is stored as
--: compressed arrays, which take a tenth of the space and half of the time to write. Partitioned by day (UTC).
create table brokerage.verdict (
  setup      text not null,
  run_id     bigint not null,
  task_id    bigint not null,  --: Task.
  decided_at timestamptz not null,  --: Time (resource.clock).
  part       bigint not null,  --: Part of the run, which names the queues (brokerage.part).
  lost       int[] not null,  --: Queues that were rejected before they had a weight, by their places in the part.
  --: The reason for each of them, as rule<tab>reason; ! comes first if the queue never entered the list.
  reasons    text[] not null,
  queues     brokerage.queue_verdict[] not null,  --: The other queues.
  check (cardinality(lost) = cardinality(reasons)),
  foreign key (setup, run_id) references brokerage.run on delete cascade
) partition by range (decided_at);
create table brokerage.verdict_default partition of brokerage.verdict default;
create index verdict_run on brokerage.verdict (run_id, task_id);

-- A recording keeps facts as JSON with a key for each attribute, and attributes are found by name. So the table stays
-- the same when a later release adds or removes an attribute or changes its type.
--: The facts and rules by which a part of a real run was decided; brokerage.replay decides it again. Partitioned by day
--: (UTC).
create table brokerage.recording (
  setup      text not null,
  run_id     bigint not null,
  part       bigint not null,  --: Part of the run (brokerage.part).
  decided_at timestamptz not null,  --: Time (resource.clock).
  tasks      jsonb not null,  --: Facts of the tasks (brokerage.to_columns).
  queues     jsonb not null,  --: Facts of the queues: for each attribute the digest of its values.
  subjects   jsonb not null,  --: Facts by subject (brokerage.to_columns).
  rules      text not null,  --: Digest of the rules of the algorithm (brokerage.recorded_value).
  program    text not null,  --: Digest of the functions that decided (brokerage.recorded_value).
  foreign key (setup, run_id) references brokerage.run on delete cascade
) partition by range (decided_at);
create table brokerage.recording_default partition of brokerage.recording default;
create index recording_run on brokerage.recording (run_id, part);

--: Values that the parts of a day share: columns of queues that did not change, rules, digests of functions. Two
--: simultaneous runs may store the same value. Partitioned by day (UTC).
create table brokerage.recorded_value (
  setup    text not null references resource.setup on delete cascade,
  noted_at timestamptz not null,  --: The day (UTC) of the decisions.
  digest   text not null,  --: The digest by which the value is found.
  value    jsonb not null  --: The value.
) partition by range (noted_at);
create table brokerage.recorded_value_default partition of brokerage.recorded_value default;
create index recorded_value_digest on brokerage.recorded_value (digest, setup);

-- Facts that rules read. Their texts are parsed; configuration, statistics and defaults are resolved.
-- brokerage.facts_of_tasks, facts_of_queues, facts_of_analysis_pairs and facts_of_nucleus_pairs fill the three types by
-- name. A later revision may add an attribute; none changes its meaning.
--: A task as rules see it. Null means not known or not set, except where a default is named.
create type brokerage.task_facts as (
  task_id bigint,  --: JEDI task id.
  now timestamptz,  --: The time of the decision.
  label text,
  gshare text,
  processing_type text,  --: Processing type; null means empty.
  working_group text,
  user_name text,
  resource_type text,
  task_priority int,  --: Priority of the task.
  current_priority int,  --: Priority now.
  frozen timestamptz,  --: Time since which the task has made no progress; null if it is not frozen.
  is_scout boolean,  --: Whether the chunk makes scout jobs.
  is_merging boolean,  --: Whether the chunk makes merge jobs.
  event_service int,  --: 0 = none, 1 = event service, 2 = job cloning, 3 = fine-grained; 0 for analysis.
  --: Number of parts into which the event service cuts a job's work: consumers times attempts (facts-and-formulas.md,
  --: walltime-bound); 1 for other tasks.
  event_service_parts float8,
  merge_output boolean,  --: Whether outputs are merged (pre-merged jobs).
  core_count int,  --: Cores of a job (mergeCoreCount of merge jobs); 0 = any, null means 1.
  task_core_count int,  --: Cores of a job of the task, merging or not; 0 = any, null means 1.
  max_core_count int,  --: Maximum number of cores of a queue; null or 0 means no limit.
  --: Memory R (MB; facts-and-formulas.md, memory-need): the largest of task, chunk and merging rules; 0 = no check.
  ram_count float8,
  --: Whether R grows with cores: the unit is MBPerCore or MBPerCoreFixed, and the task does not merge.
  ram_per_core boolean,
  base_ram_count float8,  --: Memory that does not grow with cores (MB); 0 = none.
  cpu_time float8,  --: CPU time per event (HS06 s); null if not known or of another unit.
  cpu_time_is_hs06 boolean,  --: Whether the unit of cpuTime is based on HS06.
  cpu_efficiency float8,  --: Percent of the walltime that is CPU time; 90 if not set.
  base_walltime float8,  --: Walltime that does not depend on the events (s); 0 = none.
  walltime float8,  --: Walltime (s per MB of input), if the unit of cpuTime is not HS06.
  walltime_is_undefined boolean,  --: Whether neither walltime nor cpuTime gives the length of a job (walltime-scout).
  out_disk_bytes float8,  --: Output in bytes per event or per MB of input; not negative.
  out_disk_per_event boolean,  --: Whether the output is given per event.
  work_disk_bytes float8,  --: Scratch beside input and output (bytes); null if not set.
  io_intensity float8,  --: Input and output per second (kB/s).
  disk_io float8,  --: Disk IO per second (kB/s).
  input_files bigint,  --: Files of the input.
  input_bytes bigint,  --: Bytes of the input.
  job_events bigint,  --: nEvents: events of the largest job.
  job_input_mb float8,  --: Input of the largest job from the primary dataset (MB).
  job_input_bytes bigint,  --: Input of the largest job from all datasets (bytes).
  jobs bigint,  --: Number of jobs that the input makes, by nFilesPerJob also for merging.
  unassigned_jobs bigint,  --: Jobs of the input that no run of the broker has assigned yet.
  events bigint,  --: Events of the primary dataset.
  dynamic_num_events bigint,  --: Events of the smallest job with the dynamic number of events; null if not dynamic.
  max_events_per_job bigint,  --: Maximum number of events of a job, with the dynamic number of events.
  work float8,  --: CPU time that its events need (HS06 s).
  has_software boolean,  --: Whether transHome or container_name is set.
  allow_input_lan int,  --: Direct access to input: 1 use, 2 only, null copy.
  use_local_io boolean,  --: Whether the input is copied, whatever allow_input_lan is.
  input_pre_staging boolean,  --: Data carousel.
  t1_weight float8,  --: Weight of the nucleus; null counts as 0.
  full_chain int,  --: 1 only, 2 require, 3 capable, null none.
  ip_connectivity text,  --: full, http or none; null if not given.
  ip_stack text,  --: IPv4 or IPv6; null if not given.
  n_jumbo_jobs bigint,  --: Number of jumbo jobs.
  hpo_workflow boolean,  --: Whether the task is hyperparameter optimisation.
  nqueuelimitsite float8,  --: NQUEUELIMITSITE of the share (jobs).
  min_weight float8,  --: MIN_WEIGHT of the label and share; 0 = none.
  disk_threshold float8,  --: DISK_THRESHOLD of the share (TB).
  --: Changes that retry rules made to the parts that are brokered now (brokerage.part_groups); null = none.
  changes text,
  failed_queues text[],  --: Queues at which these parts failed and which these parts avoid; null if there is none.
  nucleus text,  --: Nucleus; null if there is none.
  nucleus_mode text,  --: bareNucleus of the nucleus: only or allow; null if it is not bare.
  nucleus_queued bigint,  --: Files queued on all links into the nucleus, Production Output.
  nucleus_queued_express bigint,  --: Files queued on all links into the nucleus, activity Express.
  nucleus_is_writable boolean,  --: Whether write_wan of the nucleus' default output storage is neither OFF nor TEST.
  is_preset boolean,  --: Whether its nucleus is given and known.
  parent_nucleus text,  --: Nucleus of its parent, another task; null if it has none.
  parent_full_chain int,  --: fullChain of its parent; null if there is none.
  parent_nucleus_mode text,  --: bareNucleus of the parent's nucleus: only or allow; null if it is not bare.
  located_files bigint,  --: Files of the input datasets whose place counts: all, or the first (taskBrokerOnMaster).
  located_bytes bigint,  --: Size of these files (bytes).
  preassigned text[],  --: Queues to which it is pre-assigned, by the names given; null if it is not pre-assigned.
  preassigned_by text,  --: prod-initial-preassigned (the task's site) or preassigned-merge (the master dataset's).
  included_sites text[],  --: Patterns (like) of the queues that it is limited to; null if it is not limited.
  excluded_sites text[],  --: Patterns (like) of the queues that it excludes; null if there is none.
  sites text[],  --: Patterns (like) of the queues of its site; null if it names none.
  limited_sites boolean,  --: Whether the split rule limitedSites is set.
  sites_used text[],  --: Queues to which jobs of the task went.
  avoid_vp boolean,  --: Whether it refuses queues of virtual placement.
  cloud text,  --: Cloud; null or empty = any.
  n_gb_per_job float8,  --: Maximum input of a job (GB); null if it is not limited.
  has_platform boolean,  --: Whether its architecture names a platform.
  input_problem text,  --: The reason why no task can use the input (input-completeness); null if it is usable.
  is_distributed boolean,  --: Whether an input dataset is distributed over many storages.
  wan_problem text,  --: An input dataset that cannot be read over WAN anywhere; null if there is none.
  account_running_jobs bigint,  --: Running jobs of the working group, or of the user if there is no group.
  account_queued_jobs bigint,  --: Queued jobs of the user or working group.
  account_running_cores bigint,  --: Cores of the running jobs of the user or working group.
  account_queued_cores bigint,  --: Cores of the queued jobs of the user or working group.
  cap_jobs float8,  --: CAP_RUNNING_USER_JOBS, or that of groups; null or 0 = no limit.
  cap_cores float8,  --: CAP_RUNNING_USER_CORES, or that of groups; null or 0 = no limit.
  quota_used float8,  --: Disk that the account uses (bytes); null if not known.
  quota_limit float8,  --: Disk quota of the account (bytes); null if not known.
  quota_is_kept boolean,  --: Whether the quota could be read and is not exceeded; null if there is no quota.
  quota_is_near boolean,  --: Whether more than nine tenths of the quota are used.
  over_local text[],  --: Storages at which the user's own quota is used up.
  share_usage float8,  --: Usage of the share divided by its target; null if not known.
  --: Usage of the share above it, L1 User Analysis, divided by its target; null if not known.
  share_usage_above float8,
  share_queued bigint,  --: Queued jobs of the share at all queues.
  share_running bigint,  --: Running jobs of the share at all queues.
  task_class int,  --: Class of the task: 2 S, 1 A, 0 B, -1 C; null if not evaluated.
  rem_slots_a float8,  --: Slots left to the user until class A ends; null if the user was not evaluated.
  user_usage_threshold_a float8,  --: USER_USAGE_THRESHOLD_A (slots).
  throttled_at timestamptz,  --: When the caps of its user or group throttled it; null if they did not.
  --: The whole configuration in force in the setup, for rules of your own: an object with a value for each
  --: component:KEY or KEY.
  config jsonb,
  work_shortage boolean,  --: core:WORK_SHORTAGE.
  max_diskio_default float8,  --: MAX_DISKIO_DEFAULT (kB/s per core); null means no limit.
  nqueued_sat_cap float8,  --: NQUEUED_SAT_CAP (files).
  nqueued_nuc_cap_for_jobs float8,  --: NQUEUED_NUC_CAP_FOR_JOBS (files).
  io_intensity_cutoff float8,  --: IO_INTENSITY_CUTOFF (kB/s).
  size_cutoff_to_move_input float8,  --: SIZE_CUTOFF_TO_MOVE_INPUT (GB).
  num_cutoff_to_move_input float8,  --: NUM_CUTOFF_TO_MOVE_INPUT (files).
  nw_threshold float8,  --: NW_THRESHOLD.
  nw_weight_multiplier float8,  --: NW_WEIGHT_MULTIPLIER.
  nw_active boolean,  --: NW_ACTIVE.
  nw_queue_importance float8,  --: NW_QUEUE_IMPORTANCE.
  storage_min_free_size float8,  --: STORAGE_MIN_FREE_SIZE (GB).
  max_prio_to_bootstrap float8,  --: MAX_PRIO_TO_BOOTSTRAP.
  nqueued_nuc_cap float8,  --: taskbrokerage:NQUEUED_NUC_CAP (files).
  input_size_threshold float8,  --: INPUT_SIZE_THRESHOLD (GB).
  input_size_fraction float8,  --: INPUT_SIZE_FRACTION (percent).
  input_num_threshold float8,  --: INPUT_NUM_THRESHOLD (files).
  input_num_fraction float8,  --: INPUT_NUM_FRACTION (percent).
  min_io_intensity_with_local_data float8,  --: MIN_IO_INTENSITY_WITH_LOCAL_DATA (kB/s).
  min_input_size_with_local_data float8,  --: MIN_INPUT_SIZE_WITH_LOCAL_DATA (GB).
  max_task_prio_with_local_data float8,  --: MAX_TASK_PRIO_WITH_LOCAL_DATA.
  data_location_check_period float8,  --: DATA_LOCATION_CHECK_PERIOD (days).
  free_disk_cutoff float8,  --: FREE_DISK_CUTOFF (TB).
  io_intensity_cutoff_user float8,  --: IO_INTENSITY_CUTOFF_USER (kB/s); null if not set.
  data_check_timeout_user float8,  --: DATA_CHECK_TIMEOUT_USER (h); null means never.
  min_bad_jobs_to_skip_pq float8,  --: MIN_BAD_JOBS_TO_SKIP_PQ (jobs).
  overload_min_queue float8,  --: OVERLOAD_MIN_QUEUE (jobs).
  overload_ratio_offset float8,  --: OVERLOAD_RATIO_OFFSET.
  base_queue_length_per_pq float8,  --: BASE_QUEUE_LENGTH_PER_PQ (jobs).
  base_expected_wait_hour_on_pq float8,  --: BASE_EXPECTED_WAIT_HOUR_ON_PQ (h).
  base_default_queue_length_per_pq_user float8,  --: BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER (jobs).
  base_queue_ratio_on_pq float8,  --: BASE_QUEUE_RATIO_ON_PQ.
  static_max_queue_running_ratio float8,  --: STATIC_MAX_QUEUE_RUNNING_RATIO.
  max_expected_wait_hour float8,  --: MAX_EXPECTED_WAIT_HOUR (h).
  storage_min_free_size_output float8,  --: STORAGE_MIN_FREE_SIZE_OUTPUT (GB).
  --: Nuclei that have a queue which could run its jobs (task-job-check), as keys; null if not checked.
  runnable_at jsonb,
  --: Whether the task found no queue with its input, and is decided once more without that condition.
  second_pass boolean,
  arm text  --: Arm of the trial to which the task belongs: control or trial; null if no trial is under way.
);

--: A queue as rules see it: a PanDA queue, or a pseudo-queue of a unified one. A limit that is null is no limit.
create type brokerage.queue_facts as (
  queue text,  --: Name of the candidate: the queue, or queue/resource type for a pseudo-queue.
  unified_name text,  --: The PanDA queue, by which statistics are kept.
  child_type text,  --: Resource type of a pseudo-queue; null for other queues.
  panda_site text,  --: PanDA site.
  is_nucleus boolean,  --: Whether it has the role nucleus.
  type text,  --: production, analysis, unified or another.
  is_production boolean,  --: Whether it runs production: its type is production or unified, or it is grandly_unified.
  cloud text,
  status text,  --: Status: online, offline, brokeroff, test and so on.
  storage_site text,  --: The storage site by which links are looked up.
  corecount int,  --: Cores of a slot; null or 0 counts as 1.
  unified_corecount int,  --: Cores of a slot of the whole queue, not of the pseudo-queue.
  corepower float8,  --: HS06 per core, not 0.
  maxrss float8,  --: Maximum memory of a slot (MB).
  minrss float8,  --: Minimum memory of a slot (MB).
  maxtime float8,  --: The longest walltime (s).
  mintime float8,  --: The shortest walltime (s).
  maxwdir float8,  --: Maximum scratch space of a slot of the whole queue (MiB).
  reads_always_directly boolean,  --: Whether maxinputsize is -1.
  direct_access_lan boolean,  --: Whether input can be read directly from the local storage.
  pledgedcpu float8,  --: Pledged cores; -1 = opportunistic, 0 = none.
  transferringlimit float8,  --: Maximum number of transferring jobs; 2000 if not set.
  connectivity text,  --: full, http, none; null if not given.
  ip_stack text,  --: IPv4, IPv6; null if not given.
  jobseed text,  --: std, es, eshigh or all.
  maxdiskio float8,  --: Maximum diskIO per core (kB/s); null means that the default counts.
  average_diskio float8,  --: Mean diskIO of running jobs (kB/s per core); null if none is running.
  max_io_intensity float8,  --: Maximum ioIntensity of a task (kB/s).
  bare_nucleus text,  --: bareNucleus of the queue: only or allow.
  uses_jumbo boolean,  --: Whether the queue has the flag useJumboJobs.
  min_events_for_jumbo float8,  --: minEventsForJumbo.
  uses_only_local_data boolean,  --: Whether the queue has the flag use_only_local_data.
  job_chunk_size int,  --: jobChunkSize: the number of jobs that one choice places.
  releases_any boolean,  --: Whether ANY is among the releases.
  releases_auto boolean,  --: Whether AUTO is among the releases.
  publishes_software boolean,  --: Whether it has an entry in the software JSON.
  pilots bigint,  --: Requests of pilots in the last 3 h (getJob and updateJob); 0 = none, or no record.
  laststart timestamptz,  --: When a job last started.
  workers bigint,  --: Batch workers running and submitted.
  ups boolean,  --: Whether it is a pull queue of unified pilot streaming.
  has_slots boolean,  --: Whether slots of any share are defined for the queue.
  core_running bigint,  --: Cores of running and starting jobs.
  running_all bigint,  --: Running jobs of all shares.
  activated_all bigint,  --: Activated jobs of all shares.
  starting_all bigint,  --: Starting jobs of all shares.
  transferring_all bigint,  --: Transferring jobs of all shares.
  transferring_to_unwritable bigint,  --: Transferring jobs that go to nuclei whose storage cannot be written.
  has_output_storage boolean,  --: Whether a default output storage is known.
  space_free float8,  --: Free space of the default output storage (GB).
  space_usable float8,  --: Usable space of the default output storage: free + expired - min_free - unavailable (GB).
  input_storages int,  --: Number of input storages.
  inputs_readable int,  --: Number of input storages whose read_lan is not OFF or TEST.
  output_storages int,  --: Number of output storages.
  outputs_writable int,  --: Number of output storages whose write_lan is not OFF or TEST.
  datadisk_read_lan boolean,  --: Whether an input DATADISK can be read over LAN.
  datadisk_write_lan boolean,  --: Whether an output DATADISK can be written over LAN.
  datadisk_write_wan boolean,  --: Whether an input DATADISK can be written over WAN.
  datadisk_read_wan boolean,  --: Whether an output DATADISK can be read over WAN.
  lock_age interval,  --: Age of another broker's lock on the queue; null if it is not locked.
  live_jobs bigint,  --: Jobs assigned lately that no statistics count (live counter).
  --: One object of params, catchall and CRIC's other fields, in this order of precedence; for rules of your own.
  attributes jsonb,
  --: For a nucleus: files queued on all links into it, Production Output; infinite if its backlog is marked as
  --: unlimited.
  queued_into float8,
  remaining_work float8,  --: For a nucleus: work of all shares that is left there (HS06 s).
  site_class int,  --: Class for user analysis: 1 hi, 0 mid, -1 lo; null if not classified.
  has_vp_input boolean,  --: Whether an input storage is a virtual placement (..._VP_DISK).
  output_storage text,  --: Default output storage.
  input_space_usable float8,  --: Usable space of the default input storage (GB); null if it is the output storage.
  inputs_writable_wan int,  --: Input storages whose write_wan is not OFF or TEST.
  outputs_readable_wan int  --: Output storages whose read_wan is not OFF or TEST.
);

--: Facts about a pair of task and queue.
create type brokerage.pair_facts as (
  is_preassigned boolean,  --: Whether the task is pre-assigned to the queue.
  preassigned_alone boolean,  --: Whether the task is pre-assigned to this queue and no other.
  is_nucleus_queue boolean,  --: Whether the queue is a nucleus queue of the task's nucleus.
  is_near boolean,  --: Whether the queue is a nucleus queue, or its output storage is an input storage of the nucleus.
  is_own boolean,  --: Whether the storage site of the queue is the nucleus.
  closeness float8,  --: Closeness of the link to the nucleus; -1 = blocked, null if not known.
  queued float8,  --: Files queued on the link, Production Output; null if no such link is known.
  queued_express float8,  --: Files queued on the link, activity Express.
  mbps float8,  --: Throughput of the link (MB/s) in the last hour, else day, else week.
  running bigint,  --: Running jobs of the share.
  starting bigint,  --: Starting jobs of the share.
  activated bigint,  --: Activated jobs of the share.
  assigned bigint,  --: Assigned jobs of the share.
  defined bigint,  --: Defined jobs of the share.
  numslots bigint,  --: Slots in cores for the share and resource type; null if none are defined.
  --: Running jobs of the share and the task's resource types; null if there are no statistics of them.
  type_running bigint,
  type_starting bigint,  --: Starting jobs of them.
  type_activated bigint,  --: Activated jobs of them.
  type_assigned bigint,  --: Assigned jobs of them.
  type_defined bigint,  --: Defined jobs of them.
  available_files bigint,  --: Files of the input on disk there.
  available_bytes bigint,  --: Size of these files (bytes).
  reachable_files bigint,  --: Files of the input on disk or tape there.
  reachable_bytes bigint,  --: Size of these files (bytes).
  input_is_local boolean,  --: Whether all of the input is on disk there.
  has_readable_source boolean,  --: Whether all of the input can be read over WAN somewhere.
  zero_share text,  --: Sub-policy of the fairsharepolicy that refuses the task; null if none does.
  --: The reason why the published software or hardware does not fit; null if it fits, or nothing is published.
  software text,
  --: Percent of its CPUs at the architecture level that the task prefers; null if it prefers none.
  platform_level_percent float8,
  weight float8,  --: Weight so far, for rules behind the weights; null for rules before them.
  remaining_work float8,  --: Work left at the nucleus in tasks of the share with at least the task's priority (HS06 s).
  --: Files at the nucleus of the datasets whose place counts, each dataset at its best input storage.
  located_files bigint,
  located_bytes bigint,  --: Size of these files (bytes).
  located_disk_files bigint,  --: Number of these files that are on disk.
  located_disk_bytes bigint,  --: Size of these files (bytes).
  --: Space for the output (GB) at the storage with the least space: free and expired space; in panda2026 without the
  --: minimum and the unavailable space.
  space float8,
  weighed_space float8,  --: Space of the storage of which the least part is left (GB).
  space_total float8,  --: All space of that storage (GB); null if not known.
  output_problem text,  --: An output dataset for which the nucleus has no storage; null if there is none.
  wan_problem text,  --: An output storage that others cannot reach; null if there is none.
  input_problem text,  --: The reason why the queue lacks the input (anal-locality); null if it has it.
  input_copies float8,  --: Datasets there: 1 each on disk, 0.001 on tape; null if not all can be at one queue.
  failed bigint,  --: Jobs of the task that failed there lately.
  closed bigint,  --: Jobs of the task that were closed there lately, to run elsewhere.
  finished bigint,  --: Jobs of the task that finished there lately.
  user_queued bigint,  --: Queued jobs of the user and share there; null if the user has no entry.
  user_running bigint,  --: Running jobs of the user and share there.
  users bigint,  --: Users of the share there, at least 1.
  users_running bigint,  --: Running jobs of all users of the share there.
  to_running_rate float8  --: Jobs of the share that start there per hour.
);

-- The types below are the parts of the facts of pairs, which brokerage.facts_by_subject fills. Tasks share most of
-- them: for each subject, a key has the number under which the task finds its rows. place: that number times the number
-- of queues, plus the number of the PanDA queue (or the place of the nucleus); pair: the same formula with the places
-- of task and queue.
--: The groups of tasks that share facts: production and analysis jobs.
create type brokerage.task_key as (
  class_number bigint,  --: Number that identifies the tasks that share all of these facts.
  nucleus_number bigint,  --: Number that identifies the tasks of a nucleus.
  --: Number that identifies the tasks of a share (for analysis also of a label) whose jobs have the same resource
  --: types.
  mix_number bigint,
  policy_number bigint,  --: Number that identifies the tasks that a policy of a queue cannot distinguish.
  software_number bigint,  --: Number that identifies the tasks that need the same software and hardware.
  --: Resource types of the task's jobs at the queues where they differ from the task's resource type.
  resource_types_at jsonb,
  share_key text,  --: The attributes that policies of queues read.
  software_key text,  --: The software and hardware that it needs.
  level text,  --: Architecture level that it prefers; null if there is none.
  is_readable boolean  --: Whether all of the input can be read over WAN somewhere.
);

--: A nucleus and a PanDA queue.
create type brokerage.network_facts as (
  place bigint,  --: Number of the key and PanDA queue.
  is_nucleus_queue boolean,  --: Whether it is a queue of the nucleus.
  is_near boolean,  --: Whether it is a nucleus queue, or shares its storage.
  is_own boolean,  --: Whether the storage site of the queue is the nucleus.
  closeness float8,  --: Closeness of the link to the nucleus; -1 = blocked, null if not known.
  queued float8,  --: Files queued on the link, Production Output; null if no such link is known.
  queued_express float8,  --: Files queued on the link, activity Express.
  mbps float8  --: Throughput of the link (MB/s).
);

--: Jobs and slots of a share with resource types (analysis: and a label) at a PanDA queue.
create type brokerage.load_facts as (
  place bigint,  --: Number of the key and PanDA queue.
  running bigint,  --: Running jobs of the share.
  starting bigint,  --: Starting jobs of the share.
  activated bigint,  --: Activated jobs of the share.
  assigned bigint,  --: Assigned jobs of the share.
  defined bigint,  --: Defined jobs of the share.
  numslots bigint,  --: Slots in cores; null if none are defined.
  type_running bigint,  --: Running jobs of the resource types; null if there are no statistics of them.
  type_starting bigint,  --: Starting jobs of them.
  type_activated bigint,  --: Activated jobs of them.
  type_assigned bigint,  --: Assigned jobs of them.
  type_defined bigint,  --: Defined jobs of them.
  users bigint,  --: For analysis jobs: users of the share and label, at least 1.
  users_running bigint,  --: For analysis jobs: running jobs of all users of the share and label; null if not known.
  of_share float8,  --: For analysis jobs: jobs of the share that start there per hour; null if not known.
  of_all float8  --: For analysis jobs: jobs of all shares that start there per hour; null if not known.
);

--: A policy of a PanDA queue that refuses tasks.
create type brokerage.policy_facts as (
  place bigint,  --: Number of the key and PanDA queue.
  refusal text  --: Sub-policy of the fairsharepolicy that refuses them.
);

--: Software and hardware at a PanDA queue.
create type brokerage.software_facts as (
  place bigint,  --: Number of the key and PanDA queue.
  problem text,  --: The reason why it does not fit; null if it fits, or nothing is published.
  percent float8  --: Percent of the CPUs at the architecture level that tasks prefer; null if they prefer none.
);

--: Facts of a single task at a queue.
create type brokerage.placement_facts as (
  pair bigint,  --: Places of task and queue.
  --: Whether the task is pre-assigned to the queue; for analysis in documented, whether the queue is like a name of the
  --: task.
  is_preassigned boolean,
  --: True if the task is pre-assigned to this queue and no other, else null. A queue that is only like a name does not
  --: count.
  alone boolean,
  disk_files bigint,  --: Files of the input on disk there.
  disk_bytes bigint,  --: Size of these files (bytes).
  files bigint,  --: Files of the input on disk or tape there.
  bytes bigint,  --: Size of these files (bytes).
  is_placed boolean,  --: For analysis jobs: whether some of the input is there.
  problem text,  --: For analysis jobs: the reason why this input is not enough; null if it is enough.
  --: For analysis jobs: datasets there, 1 each on disk, 0.001 on tape; null if not all can be at one queue.
  copies float8,
  failed bigint,  --: For analysis jobs: jobs of the task that failed there lately.
  closed bigint,  --: For analysis jobs: jobs of the task that were closed there lately, to run elsewhere.
  finished bigint,  --: For analysis jobs: jobs of the task that finished there lately.
  user_queued bigint,  --: For analysis jobs: queued jobs of the user, share and label; null if the user has no entry.
  user_running bigint  --: For analysis jobs: running jobs of the user, share and label; null if the user has no entry.
);

--: The input of an analysis task at a queue, and the outcome of its jobs there: a part of brokerage.placement_facts.
create type brokerage.locality_facts as (
  pair bigint,  --: Places of task and queue.
  is_placed boolean,  --: Whether some of the input is there.
  problem text,  --: The reason why this input is not enough; null if it is enough.
  copies float8,  --: Datasets there: 1 each on disk, 0.001 on tape; null if not all can be at one queue.
  best_level int,  --: The input_level of the task.
  failed bigint,  --: Jobs of the task that failed there lately.
  closed bigint,  --: Jobs of the task that were closed there lately, to run elsewhere.
  finished bigint  --: Jobs of the task that finished there lately.
);

--: Facts about the input of an analysis task that hold at all queues.
create type brokerage.input_facts as (
  has_input boolean,  --: Whether the task has an input dataset.
  nothing_there text,  --: The reason at queues that have none of its input; null if the task has no input.
  input_level int  --: How near the nearest candidate is to all of the input, 0 to 4; null if no queue has any input.
);

--: The groups of production tasks that share facts.
create type brokerage.nucleus_key as (
  rung bigint,  --: Number that identifies the tasks of a share with the same current priority.
  --: Number that identifies the tasks with the same output tokens; null if all outputs go to places of their own.
  outlet bigint,
  is_chained boolean,  --: Whether it is a full-chain task.
  tokens text[]  --: The output tokens.
);

--: Work at a nucleus, as a rung sees it.
create type brokerage.work_facts as (
  place bigint,  --: Number of the key and place of the nucleus.
  work float8  --: Work left there in tasks of the share with at least the priority (HS06 s).
);

--: Input of a task at a nucleus: the files of each dataset whose place counts, at its best input storage.
create type brokerage.located_facts as (
  pair bigint,  --: Places of task and nucleus.
  files bigint,  --: Number of files.
  bytes bigint,  --: Size of these files (bytes).
  disk_files bigint,  --: Files among them that are on disk.
  disk_bytes bigint  --: Size of these files (bytes).
);

--: Space at a nucleus, for an outlet.
create type brokerage.space_facts as (
  place bigint,  --: Number of the key and place of the nucleus.
  space float8,  --: Space of the storage with the least space (GB).
  weighed_space float8,  --: Space of the storage with the least remaining part (GB).
  space_total float8,  --: All space of that storage (GB); null if not known.
  output_problem text,  --: An output dataset for which there is no storage; null if there is none.
  wan_problem text  --: An output storage that others cannot reach; null if there is none.
);

--: The parts of the facts about tasks and candidates; a part is null if the algorithm has no such subject.
create type brokerage.facts_by_subject as (
  base_profile text,  --: Base profile for which the facts are made.
  keys brokerage.task_key[],  --: One per task.
  network brokerage.network_facts[],  --: For production and analysis jobs: a nucleus and a PanDA queue.
  load brokerage.load_facts[],  --: For these jobs: jobs and slots at a PanDA queue.
  policies brokerage.policy_facts[],  --: For these jobs: policies that refuse tasks.
  software brokerage.software_facts[],  --: For these jobs: software and hardware.
  placement brokerage.placement_facts[],  --: For these jobs: facts that one task alone has at a queue.
  inputs brokerage.input_facts[],  --: For analysis jobs; one per task.
  nucleus_keys brokerage.nucleus_key[],  --: For production tasks; one per task.
  work brokerage.work_facts[],  --: For production tasks: work at a nucleus.
  located brokerage.located_facts[],  --: For production tasks: input at a nucleus.
  space brokerage.space_facts[]  --: For production tasks: space at a nucleus.
);

--: A queue that no rule rejects for a task, with the facts for another evaluation after jobs were assigned.
create type brokerage.survivor as (
  queue text,  --: Queue, or pseudo-queue of a unified one.
  unified_name text,  --: PanDA queue.
  factors float8[],  --: Factors of its weight, in the order of the weights of the profile.
  q brokerage.queue_facts,  --: The queue.
  p brokerage.pair_facts  --: The pair.
);

--: A rule at its place in the query of a profile (brokerage.plan_steps).
create type brokerage.plan_step as (
  step int,  --: Number of the step; the rules of a step make one part of the query together.
  part text,  --: pairs, set rules, choice, weights, distribution or ranking.
  level int,  --: Number of the filter level at which the rule can reject a pair; null if the rule rejects none.
  rule text,  --: Rule id.
  kind text,  --: As in brokerage.profile_rule.
  is_mark boolean,  --: Whether the rule only marks a queue.
  of_group text,  --: Group of a set rule.
  best bigint,  --: Number of queues that a choice keeps.
  call text,  --: SQL that calls the function of the rule on facts t, q, p; null if the rule has no function.
  reason_begins text,  --: Text with which the reasons of the rule begin.
  definition brokerage.profile_rule  --: The rule.
);

--: How facts are read in a composed query, as SQL (brokerage.compose_facts).
create type brokerage.composed_facts as (
  base text,  --: Relation from which the first level of rules selects.
  begins text,  --: The beginning of its select list.
  joined text,  --: Joins of each later level; the caller replaces the text @alive@.
  task text,  --: The task as an argument of a rule.
  queue text,  --: The queue.
  pair text,  --: The pair before the weights.
  weighed_pair text,  --: The pair behind the weights; the caller replaces the text @weight@.
  again text,  --: SQL that joins all facts again to the relation @pairs@; the caller replaces that text.
  carried text,  --: Facts of pairs that the first filter keeps.
  carried_as text  --: The same, with types.
);

--: A query, as SQL, while brokerage.compose makes it from the steps of a profile. Columns are those of a relation x.
create type brokerage.composition as (
  facts brokerage.composed_facts,  --: How facts are read.
  all_failures boolean,  --: Whether all reasons are requested.
  survivors boolean,  --: Whether facts of the pairs that no rule rejects are requested.
  filters_first boolean,  --: Whether the pairs that the first level rejects are gathered, one row per task.
  keeps_marks boolean,  --: Whether the marks of those pairs are read, for a second pass.
  filtered text,  --: Relation of those pairs.
  done text,  --: Relations up to the weight, if rules follow behind a weight of terms.
  stage text,  --: Name of the relation with which steps begins.
  pairs text,  --: Relation from which the next level selects.
  begins text,  --: The beginning of its select list.
  beside text,  --: Columns that the next level makes beside its own.
  pair text,  --: The pair as an argument of a rule.
  steps text,  --: Relations over the pairs without facts.
  relation text,  --: The last of these relations.
  asked text[],  --: Columns of pairs that the steps read.
  alone text[],  --: Columns with the reasons for which a pair fails by itself.
  unmarked text[],  --: The same without marks, behind the weights.
  failed text[],  --: All columns with reasons, in the order of the rules.
  marked text[],  --: Columns with reasons of rules that only mark, as long as marked queues are kept.
  marks_made text[],  --: The same, also behind the weights.
  failures text[],  --: Columns with all reasons.
  ignored jsonb,  --: For each group of set rules, SQL that says whether the group is ignored.
  plain text[],  --: Factors of the weight of a pair by itself.
  factors text[],  --: Factors of the weight; a factor is 1 if the rules to which it belongs are ignored.
  changed text,  --: SQL that says whether plain and factors differ.
  weight text,  --: Product of the factors in plain; null if there are no weights yet.
  choice brokerage.profile_rule,  --: The choice by weight.
  distribution jsonb  --: For each rule of distribution, SQL of its number.
);

--: A task in its turn (brokerage.compose_turns), weighed with the assignments of the turns before it.
create type brokerage.turn as (
  outside bigint,  --: Queues that never entered the list.
  rejected bigint,  --: Queues that rules reject before the turn.
  survivors bigint,  --: Queues that are weighed in the turn.
  lost int[],  --: As in brokerage.verdict.
  reasons text[],  --: The reason for each of them.
  queues brokerage.queue_verdict[],  --: The other queues.
  again boolean,  --: Whether the task is decided once more.
  kept bigint,  --: Number of candidates; the following arrays have one element per candidate, best first.
  names text[],  --: Queues, or nuclei.
  numbers bigint[],  --: Numbers of the candidates among the queues of the batch.
  weights float8[],  --: Weights of the candidates.
  queued bigint[],  --: Jobs that wait there.
  capacities bigint[],  --: Number of jobs that may be queued at each; null means no limit.
  chunks int[]  --: Number of jobs that each gets at a time.
);

--: An arm of a trial, with tasks that are decided together; without a trial there is one arm with all tasks.
create type brokerage.arm as (
  arm text,  --: control or trial; null if no trial is under way.
  numbers bigint[],  --: Places of its tasks among the tasks that are decided together.
  rules brokerage.profile_rule[]  --: Rules that decide about them.
);

--: Nuclei to which the task broker sent tasks, and the work that the tasks brought there.
create table brokerage.nucleus_assignment (
  setup       text not null references resource.setup on delete cascade,
  task_id     bigint not null,
  run_id      bigint not null,  --: Run that decided.
  nucleus     text not null,
  probability float8 not null check (probability between 0 and 1),  --: The probability of the choice, 0 to 1.
  gshare      text,  --: Global share of the task.
  priority    int not null,  --: Current priority of the task at that time.
  work        float8 not null check (work >= 0),  --: CPU time that its events need (HS06 s).
  assigned_at timestamptz not null,  --: Time (resource.clock).
  primary key (setup, task_id),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);
create index nucleus_assignment_nucleus on brokerage.nucleus_assignment (setup, nucleus, gshare, priority);
