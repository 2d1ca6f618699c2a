-- The tables of the schema brokerage. Edited in place until the first release; afterwards revisions change them.

create schema brokerage;
comment on schema brokerage is
  'Candidates, rules, weights, profiles and decisions; early binding. Uses resource, workload.';

create table brokerage.setting (
  setup             text primary key references resource.setup on delete cascade,
  profile           text not null default 'documented',
  decisions_kept    interval not null default '2 days'
    check (decisions_kept > interval '0' and decisions_kept <= interval '100 years'),
  counts_kept       interval not null default '30 days'
    check (counts_kept > interval '0' and counts_kept <= interval '100 years'),
  assignments_count interval not null default '15 minutes'
    check (assignments_count > interval '0' and assignments_count <= interval '100 years'),
  makes_jobs        boolean not null default true
);
comment on table brokerage.setting is 'Settings of brokerage, one row for each setup that changes a default.';
comment on column brokerage.setting.profile is 'Profile that decides if a call names none.';
comment on column brokerage.setting.decisions_kept is 'How long decisions are kept; counts by rule and queue stay.';
comment on column brokerage.setting.counts_kept is 'How long runs and counts by rule and queue are kept.';
comment on column brokerage.setting.assignments_count is 'How long an assignment counts in the live counter.';
comment on column brokerage.setting.makes_jobs is
  'Whether assigned jobs are made in this database (workload.job), as defined; false = they are made elsewhere, '
  'and assigned jobs count for assignments_count.';

create table brokerage.run (
  setup      text not null references resource.setup on delete cascade,
  run_id     bigint not null generated always as identity,
  algorithm  text,
  profile    text,
  seed       bigint check (seed > -1e15 and seed < 1e15),
  dry        boolean,
  called_by  text,
  started_at timestamptz,
  ended_at   timestamptz,
  tasks      bigint default 0 check (tasks > -1e15 and tasks < 1e15),
  primary key (setup, run_id)
);
comment on table brokerage.run is 'Runs of the brokers: one call, one row.';
comment on column brokerage.run.run_id is 'Number of the run.';
comment on column brokerage.run.algorithm is 'production_job, analysis_job or production_task.';
comment on column brokerage.run.profile is 'Profile that decided.';
comment on column brokerage.run.seed is 'Seed of the draws; null = none was given.';
comment on column brokerage.run.dry is 'Only decisions were stored.';
comment on column brokerage.run.called_by is 'Database role that called.';
comment on column brokerage.run.started_at is 'When it began (resource.clock).';
comment on column brokerage.run.ended_at is 'When it ended; null = it is running, or was interrupted.';
comment on column brokerage.run.tasks is 'Tasks decided so far.';

create table brokerage.task_decision (
  setup          text not null references resource.setup on delete cascade,
  run_id         bigint not null,
  task_id        bigint not null,
  decided_at     timestamptz,
  status         text check (status in ('candidates', 'pending', 'throttled', 'failed', 'error')),
  rule           text,
  reason         text,
  errcode        text,
  retry_at       timestamptz,
  candidates     int check (candidates > -1e9 and candidates < 1e9),
  rejected       int check (rejected > -1e9 and rejected < 1e9),
  not_candidates int check (not_candidates > -1e9 and not_candidates < 1e9),
  primary key (setup, run_id, task_id),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);
create index task_decision_task on brokerage.task_decision (setup, task_id, run_id);
comment on table brokerage.task_decision is 'What a run decided for a task.';
comment on column brokerage.task_decision.decided_at is 'When (resource.clock).';
comment on column brokerage.task_decision.status is
  'candidates, pending, throttled, failed, or error: the task could not be evaluated.';
comment on column brokerage.task_decision.rule is 'Rule that throttled or failed the whole task; null = none.';
comment on column brokerage.task_decision.reason is 'Why it was throttled or failed, or the error, in words.';
comment on column brokerage.task_decision.errcode is 'SQLSTATE of an error.';
comment on column brokerage.task_decision.retry_at is 'When a pending task is brokered again.';
comment on column brokerage.task_decision.candidates is 'Queues that may take its jobs.';
comment on column brokerage.task_decision.rejected is 'Queues that were rejected.';
comment on column brokerage.task_decision.not_candidates is 'Queues that never entered the list.';

create table brokerage.rejection_count (
  setup  text not null references resource.setup on delete cascade,
  run_id bigint not null,
  rule   text not null,
  queue  text not null,
  tasks  bigint check (tasks > -1e15 and tasks < 1e15),
  primary key (setup, run_id, rule, queue),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);
comment on table brokerage.rejection_count is
  'How many tasks a rule rejected at a queue in a run; kept when the decisions are gone.';
comment on column brokerage.rejection_count.rule is 'Rule.';
comment on column brokerage.rejection_count.tasks is 'Tasks.';

create table brokerage.task_state (
  setup         text not null references resource.setup on delete cascade,
  task_id       bigint not null,
  run_id        bigint,
  retry_at      timestamptz,
  assigned_jobs bigint default 0 check (assigned_jobs > -1e15 and assigned_jobs < 1e15),
  algorithm     text not null default 'production_job',
  primary key (setup, task_id, algorithm)
);
comment on table brokerage.task_state is 'State of a task in brokerage; no row = never brokered.';
comment on column brokerage.task_state.run_id is 'Last run that decided it.';
comment on column brokerage.task_state.retry_at is 'Pending until then; null = not pending.';
comment on column brokerage.task_state.assigned_jobs is 'Jobs assigned so far.';
comment on column brokerage.task_state.algorithm is
  'Broker that decided it last: production_job, analysis_job or production_task.';

create table brokerage.assignment (
  setup   text not null references resource.setup on delete cascade,
  run_id  bigint not null,
  task_id bigint not null,
  queue   text not null,
  jobs    bigint check (jobs > -1e15 and jobs < 1e15),
  primary key (setup, run_id, task_id, queue),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);
comment on table brokerage.assignment is 'Jobs of tasks that were assigned to queues.';
comment on column brokerage.assignment.queue is 'Queue, or pseudo-queue of a unified one.';

create table brokerage.live_counter (
  setup      text not null references resource.setup on delete cascade,
  number     bigint not null generated always as identity,
  queue      text,
  jobs       bigint check (jobs > -1e15 and jobs < 1e15) constraint live_counter_jobs_allowed check (jobs >= 0),
  counted_at timestamptz,
  primary key (setup, number)
);
create index live_counter_queue on brokerage.live_counter (setup, queue);
comment on table brokerage.live_counter is
  'Jobs that brokers assigned and no statistics count yet; appended, summed by queue. All brokers see it.';
comment on column brokerage.live_counter.number is 'Number of the row.';
comment on column brokerage.live_counter.queue is 'Unified queue.';
comment on column brokerage.live_counter.counted_at is
  'When; null = loaded with a world, counts until it is replaced.';

-- No setup: a profile applies in all setups.
create table brokerage.profile (
  profile     text primary key check (profile <> ''),
  based_on    text not null default 'documented',
  description text not null default '',
  check (based_on <> profile)
);
comment on table brokerage.profile is
  'Profiles of an organisation''s own; documented and panda2026 come with the program (brokerage.shipped_rule).';
comment on column brokerage.profile.profile is 'Name.';
comment on column brokerage.profile.based_on is
  'Profile whose rules it has, unless brokerage.profile_rule changes them.';
comment on column brokerage.profile.description is 'What it is for.';

create table brokerage.profile_rule (
  profile    text not null,
  algorithm  text not null check (algorithm in ('production_job', 'analysis_job', 'production_task')),
  rule       text not null check (rule ~ '^[a-z0-9][a-z0-9-]*$'),
  kind       text
    check (kind in ('task rule', 'candidate', 'row rule', 'set rule', 'weight', 'choice', 'distribution', 'pending',
      'fact', 'second pass')),
  position   float8,
  function   text,
  criteria   text check (criteria ~ '^[-+][A-Za-z0-9_]+$'),
  temporary  boolean,
  enabled    boolean,
  parameters jsonb check (jsonb_typeof(parameters) = 'object'),
  source     text,
  primary key (profile, algorithm, rule)
);
comment on table brokerage.profile_rule is
  'Rules of an organisation''s own: a row adds a rule to a profile, or changes one that it has; null = unchanged. '
  'brokerage.rule_in_force has the result.';
comment on column brokerage.profile_rule.profile is 'Profile; documented and panda2026 may be changed, too.';
comment on column brokerage.profile_rule.algorithm is 'production_job, analysis_job or production_task.';
comment on column brokerage.profile_rule.rule is 'Rule id.';
comment on column brokerage.profile_rule.kind is
  'task rule: may throttle or fail the whole task; candidate: decides which queues enter the list; row rule: '
  'rejects a queue; set rule: a row rule that holds only if some queue of the task passes it; second pass: whether '
  'a task that found nothing is decided once more; weight: a factor; choice: keeps the best; distribution: a figure '
  'that jobs are distributed by; pending: when a task that found nothing is tried again; fact: the function or view '
  'that prepares a fact.';
comment on column brokerage.profile_rule.position is 'Order within the algorithm.';
comment on column brokerage.profile_rule.function is
  'Function, schema and name. It takes task facts, queue facts and pair facts (a task rule task facts alone), and '
  'the parameters if it takes them.';
comment on column brokerage.profile_rule.criteria is
  'PanDA''s criteria tag, such as -status; null = none, or the reason begins with it.';
comment on column brokerage.profile_rule.temporary is 'The problem may pass by itself.';
comment on column brokerage.profile_rule.enabled is 'Whether the rule applies.';
comment on column brokerage.profile_rule.parameters is
  'Parameters of the function. as: the rule id that decisions name instead. A choice has best, how many are kept; a '
  'task rule status, throttled or failed; a pending rule wait, an interval, also by priority.';
comment on column brokerage.profile_rule.source is
  'Page and heading that describe the rule, relative to sql/brokerage; or whose rule it is.';
comment on constraint profile_rule_rule_check on brokerage.profile_rule is 'lower case letters, digits and hyphens';
comment on constraint profile_rule_kind_check on brokerage.profile_rule is
  'task rule, candidate, row rule, set rule, second pass, weight, choice, distribution, pending or fact';
comment on constraint profile_rule_criteria_check on brokerage.profile_rule is 'a tag of PanDA''s, such as -status';
comment on constraint profile_rule_parameters_check on brokerage.profile_rule is 'an object';

create type brokerage.queue_verdict as (
  queue text,
  verdict "char",
  rank int,
  weight float8,
  factors float8[],
  queued bigint,
  capacity bigint,
  chunk int,
  rule text,
  reason text
);
comment on type brokerage.queue_verdict is 'What a run decided for a queue.';
comment on column brokerage.queue_verdict.queue is 'Queue, or pseudo-queue of a unified one.';
comment on column brokerage.queue_verdict.verdict is 'c: candidate, r: rejected, n: never entered the list.';
comment on column brokerage.queue_verdict.rank is 'Place of a candidate, from 1.';
comment on column brokerage.queue_verdict.weight is 'Weight; null = rejected before the weights.';
comment on column brokerage.queue_verdict.factors is
  'The weight''s factors, in the order of the weights of the profile.';
comment on column brokerage.queue_verdict.queued is
  'Candidates: jobs queued there, as they count when jobs are distributed.';
comment on column brokerage.queue_verdict.capacity is
  'Candidates: how many jobs may be queued there; null = no limit.';
comment on column brokerage.queue_verdict.chunk is 'Candidates: jobs that one choice takes.';
comment on column brokerage.queue_verdict.rule is 'Rule that rejected it.';
comment on column brokerage.queue_verdict.reason is
  'Why, in words with the numbers compared; may begin with a criteria tag of its own and a colon.';

create table brokerage.verdict (
  setup      text not null,
  run_id     bigint not null,
  task_id    bigint not null,
  decided_at timestamptz not null,
  queues     brokerage.queue_verdict[] not null,
  foreign key (setup, run_id) references brokerage.run on delete cascade
) partition by range (decided_at);
create table brokerage.verdict_default partition of brokerage.verdict default;
create index verdict_run on brokerage.verdict (run_id, task_id);
comment on table brokerage.verdict is
  'What a run decided for the queues of a task; brokerage.decision shows a row a queue. Stored as arrays, which are '
  'compressed: a tenth of the space, and half of the time to write. Partitioned by day (UTC).';
comment on column brokerage.verdict.task_id is
  'Task; it has several rows if parts were decided one after the other.';
comment on column brokerage.verdict.decided_at is 'When (resource.clock).';
comment on column brokerage.verdict.queues is 'The queues.';

-- Facts that rules read: texts parsed, configuration, statistics and defaults resolved. brokerage.facts_of_tasks,
-- facts_of_queues and facts_of_pairs fill the three types by name. A later revision may
-- add an attribute; none changes its meaning.
create type brokerage.task_facts as (
  task_id bigint,
  now timestamptz,
  label text,
  gshare text,
  processing_type text,
  working_group text,
  user_name text,
  resource_type text,
  task_priority int,
  current_priority int,
  is_scout boolean,
  is_merging boolean,
  event_service int,
  merge_output boolean,
  preassigned text[],
  preassigned_by text,
  core_count int,
  task_core_count int,
  max_core_count int,
  ram_count float8,
  ram_per_core boolean,
  base_ram_count float8,
  cpu_time float8,
  cpu_time_is_hs06 boolean,
  cpu_efficiency float8,
  base_walltime float8,
  walltime float8,
  walltime_is_undefined boolean,
  out_disk_bytes float8,
  out_disk_per_event boolean,
  work_disk_bytes float8,
  io_intensity float8,
  disk_io float8,
  input_files bigint,
  input_bytes bigint,
  job_events bigint,
  job_input_mb float8,
  job_input_bytes bigint,
  jobs bigint,
  events bigint,
  dynamic_num_events bigint,
  max_events_per_job bigint,
  has_software boolean,
  allow_input_lan int,
  use_local_io boolean,
  input_pre_staging boolean,
  t1_weight float8,
  full_chain int,
  ip_connectivity text,
  ip_stack text,
  n_jumbo_jobs bigint,
  hpo_workflow boolean,
  nucleus text,
  nucleus_mode text,
  nucleus_queued bigint,
  nucleus_queued_express bigint,
  nucleus_is_writable boolean,
  input_problem text,
  nqueued_sat_cap float8,
  nqueued_nuc_cap_for_jobs float8,
  io_intensity_cutoff float8,
  size_cutoff_to_move_input float8,
  num_cutoff_to_move_input float8,
  max_diskio_default float8,
  nw_threshold float8,
  nw_weight_multiplier float8,
  nw_active boolean,
  nw_queue_importance float8,
  storage_min_free_size float8,
  work_shortage boolean,
  max_prio_to_bootstrap float8,
  nqueuelimitsite float8,
  min_weight float8,
  config jsonb,
  work float8,
  located_files bigint,
  located_bytes bigint,
  is_preset boolean,
  parent_nucleus text,
  parent_full_chain int,
  parent_nucleus_mode text,
  frozen timestamptz,
  nqueued_nuc_cap float8,
  disk_threshold float8,
  input_size_threshold float8,
  input_size_fraction float8,
  input_num_threshold float8,
  input_num_fraction float8,
  min_io_intensity_with_local_data float8,
  min_input_size_with_local_data float8,
  max_task_prio_with_local_data float8,
  data_location_check_period float8,
  free_disk_cutoff float8,
  runnable_at text[],
  account_running_jobs bigint,
  account_queued_jobs bigint,
  account_running_cores bigint,
  account_queued_cores bigint,
  cap_jobs float8,
  cap_cores float8,
  quota_used float8,
  quota_limit float8,
  quota_is_kept boolean,
  quota_is_near boolean,
  over_local text[],
  share_usage float8,
  share_usage_above float8,
  share_queued bigint,
  share_running bigint,
  task_class int,
  rem_slots_a float8,
  user_usage_threshold_a float8,
  included_sites text[],
  excluded_sites text[],
  sites text[],
  limited_sites boolean,
  sites_used text[],
  avoid_vp boolean,
  cloud text,
  n_gb_per_job float8,
  is_distributed boolean,
  has_platform boolean,
  wan_problem text,
  second_pass boolean,
  io_intensity_cutoff_user float8,
  data_check_timeout_user float8,
  min_bad_jobs_to_skip_pq float8,
  overload_min_queue float8,
  overload_ratio_offset float8,
  base_queue_length_per_pq float8,
  base_expected_wait_hour_on_pq float8,
  base_default_queue_length_per_pq_user float8,
  base_queue_ratio_on_pq float8,
  static_max_queue_running_ratio float8,
  max_expected_wait_hour float8,
  storage_min_free_size_output float8
);
comment on type brokerage.task_facts is
  'A task as rules see it. Null is not known or not set, except where a default is named.';
comment on column brokerage.task_facts.task_id is 'JEDI task id.';
comment on column brokerage.task_facts.now is 'The time of the decision.';
comment on column brokerage.task_facts.processing_type is 'Processing type; null = empty.';
comment on column brokerage.task_facts.task_priority is 'Priority of the task.';
comment on column brokerage.task_facts.current_priority is 'Priority now.';
comment on column brokerage.task_facts.is_scout is 'The chunk makes scout jobs.';
comment on column brokerage.task_facts.is_merging is 'The chunk makes merge jobs.';
comment on column brokerage.task_facts.event_service is '0 = none, 1 or 2 = event service.';
comment on column brokerage.task_facts.merge_output is 'Outputs are merged (pre-merged jobs).';
comment on column brokerage.task_facts.preassigned is
  'Queues it is pre-assigned to, as named (unified ones not resolved); null = not pre-assigned.';
comment on column brokerage.task_facts.preassigned_by is
  'prod-initial-preassigned (the task''s site) or preassigned-merge (the master dataset''s).';
comment on column brokerage.task_facts.core_count is
  'Cores of a job (mergeCoreCount of merge jobs); 0 = any, null = 1.';
comment on column brokerage.task_facts.task_core_count is
  'Cores of a job of the task, merging or not; 0 = any, null = 1.';
comment on column brokerage.task_facts.max_core_count is 'Cores of a queue at most; null or 0 = no limit.';
comment on column brokerage.task_facts.ram_count is
  'Memory R (MB; facts-and-formulas.md, memory-need): the largest of task, chunk and merging rules; 0 = no check.';
comment on column brokerage.task_facts.ram_per_core is
  'R grows with cores: MBPerCore or MBPerCoreFixed, and not merging.';
comment on column brokerage.task_facts.base_ram_count is 'Memory that does not grow with cores (MB), 0 = none.';
comment on column brokerage.task_facts.cpu_time is
  'CPU time per event (HS06 s); null = not known or of another unit.';
comment on column brokerage.task_facts.cpu_time_is_hs06 is 'The unit of cpuTime is one of HS06.';
comment on column brokerage.task_facts.cpu_efficiency is 'Percent; 90 where not set.';
comment on column brokerage.task_facts.base_walltime is 'Walltime beside the events (s), 0 = none.';
comment on column brokerage.task_facts.walltime is
  'Walltime (s per MB of input), where the unit of cpuTime is not HS06.';
comment on column brokerage.task_facts.walltime_is_undefined is
  'Neither walltime nor cpuTime gives the length of a job (walltime-scout).';
comment on column brokerage.task_facts.out_disk_bytes is
  'Output in bytes per event or per MB of input; not negative.';
comment on column brokerage.task_facts.out_disk_per_event is 'Output is per event.';
comment on column brokerage.task_facts.work_disk_bytes is 'Scratch beside input and output (bytes); null = not set.';
comment on column brokerage.task_facts.io_intensity is 'kB/s.';
comment on column brokerage.task_facts.disk_io is 'kB/s.';
comment on column brokerage.task_facts.input_files is 'Files of the input.';
comment on column brokerage.task_facts.input_bytes is 'Bytes of the input.';
comment on column brokerage.task_facts.job_events is 'nEvents: events of the largest job.';
comment on column brokerage.task_facts.job_input_mb is 'Input MB of the largest job, primary dataset.';
comment on column brokerage.task_facts.job_input_bytes is 'Input bytes of the largest job, all datasets.';
comment on column brokerage.task_facts.jobs is 'Jobs that the input makes.';
comment on column brokerage.task_facts.events is 'Events of the primary dataset.';
comment on column brokerage.task_facts.dynamic_num_events is
  'Events of the smallest job with the dynamic number of events; null = not dynamic.';
comment on column brokerage.task_facts.max_events_per_job is
  'Events a job at most, with the dynamic number of events.';
comment on column brokerage.task_facts.has_software is 'transHome or container_name is set.';
comment on column brokerage.task_facts.allow_input_lan is 'Direct access to input: 1 use, 2 only, null copy.';
comment on column brokerage.task_facts.use_local_io is 'Input is copied, whatever allow_input_lan is.';
comment on column brokerage.task_facts.input_pre_staging is 'Data carousel.';
comment on column brokerage.task_facts.t1_weight is 'Weight of the nucleus; null counts 0.';
comment on column brokerage.task_facts.full_chain is '1 only, 2 require, 3 capable, null none.';
comment on column brokerage.task_facts.ip_connectivity is 'full, http or none; null = not given.';
comment on column brokerage.task_facts.ip_stack is 'IPv4 or IPv6; null = not given.';
comment on column brokerage.task_facts.n_jumbo_jobs is 'Jumbo jobs.';
comment on column brokerage.task_facts.hpo_workflow is 'Hyperparameter optimisation.';
comment on column brokerage.task_facts.nucleus is 'Nucleus; null = none.';
comment on column brokerage.task_facts.nucleus_mode is 'bareNucleus of the nucleus: only or allow; null = not bare.';
comment on column brokerage.task_facts.nucleus_queued is
  'Files queued on all links into the nucleus, Production Output.';
comment on column brokerage.task_facts.nucleus_queued_express is 'The same for activity Express.';
comment on column brokerage.task_facts.nucleus_is_writable is
  'write_wan of the nucleus'' default output storage is not OFF or TEST.';
comment on column brokerage.task_facts.input_problem is
  'Why no task can use the input (input-completeness); null = it is usable.';
comment on column brokerage.task_facts.nqueued_sat_cap is 'NQUEUED_SAT_CAP (files).';
comment on column brokerage.task_facts.nqueued_nuc_cap_for_jobs is 'NQUEUED_NUC_CAP_FOR_JOBS (files).';
comment on column brokerage.task_facts.io_intensity_cutoff is 'IO_INTENSITY_CUTOFF (kB/s).';
comment on column brokerage.task_facts.size_cutoff_to_move_input is 'SIZE_CUTOFF_TO_MOVE_INPUT (GB).';
comment on column brokerage.task_facts.num_cutoff_to_move_input is 'NUM_CUTOFF_TO_MOVE_INPUT (files).';
comment on column brokerage.task_facts.max_diskio_default is 'MAX_DISKIO_DEFAULT (kB/s per core); null = no limit.';
comment on column brokerage.task_facts.nw_threshold is 'NW_THRESHOLD.';
comment on column brokerage.task_facts.nw_weight_multiplier is 'NW_WEIGHT_MULTIPLIER.';
comment on column brokerage.task_facts.nw_active is 'NW_ACTIVE.';
comment on column brokerage.task_facts.nw_queue_importance is 'NW_QUEUE_IMPORTANCE.';
comment on column brokerage.task_facts.storage_min_free_size is 'STORAGE_MIN_FREE_SIZE (GB).';
comment on column brokerage.task_facts.work_shortage is 'core:WORK_SHORTAGE.';
comment on column brokerage.task_facts.max_prio_to_bootstrap is 'MAX_PRIO_TO_BOOTSTRAP.';
comment on column brokerage.task_facts.nqueuelimitsite is 'NQUEUELIMITSITE of the share (jobs).';
comment on column brokerage.task_facts.min_weight is 'MIN_WEIGHT of the label and share; 0 = none.';
comment on column brokerage.task_facts.config is
  'All configuration in force in the setup: component:KEY or KEY to value; for rules of your own.';
comment on column brokerage.task_facts.work is 'CPU time that its events need (HS06 s).';
comment on column brokerage.task_facts.located_files is
  'Files of the input datasets whose place counts: all, or the first (taskBrokerOnMaster).';
comment on column brokerage.task_facts.located_bytes is 'Their bytes.';
comment on column brokerage.task_facts.is_preset is 'Its nucleus is given and known.';
comment on column brokerage.task_facts.parent_nucleus is 'Nucleus of its parent, another task; null = it has none.';
comment on column brokerage.task_facts.parent_full_chain is 'fullChain of its parent; null = none.';
comment on column brokerage.task_facts.parent_nucleus_mode is
  'bareNucleus of the parent''s nucleus: only or allow; null = not bare.';
comment on column brokerage.task_facts.frozen is 'Since when it waits; null = it does not.';
comment on column brokerage.task_facts.nqueued_nuc_cap is 'taskbrokerage:NQUEUED_NUC_CAP (files).';
comment on column brokerage.task_facts.disk_threshold is 'DISK_THRESHOLD of the share (TB).';
comment on column brokerage.task_facts.input_size_threshold is 'INPUT_SIZE_THRESHOLD (GB).';
comment on column brokerage.task_facts.input_size_fraction is 'INPUT_SIZE_FRACTION (percent).';
comment on column brokerage.task_facts.input_num_threshold is 'INPUT_NUM_THRESHOLD (files).';
comment on column brokerage.task_facts.input_num_fraction is 'INPUT_NUM_FRACTION (percent).';
comment on column brokerage.task_facts.min_io_intensity_with_local_data is 'MIN_IO_INTENSITY_WITH_LOCAL_DATA (kB/s).';
comment on column brokerage.task_facts.min_input_size_with_local_data is 'MIN_INPUT_SIZE_WITH_LOCAL_DATA (GB).';
comment on column brokerage.task_facts.max_task_prio_with_local_data is 'MAX_TASK_PRIO_WITH_LOCAL_DATA.';
comment on column brokerage.task_facts.data_location_check_period is 'DATA_LOCATION_CHECK_PERIOD (days).';
comment on column brokerage.task_facts.free_disk_cutoff is 'FREE_DISK_CUTOFF (TB).';
comment on column brokerage.task_facts.runnable_at is
  'Nuclei of which some queue could run its jobs (task-job-check); null = not checked.';
comment on column brokerage.task_facts.account_running_jobs is
  'Running jobs of the user, or of the working group where there is one.';
comment on column brokerage.task_facts.account_queued_jobs is 'Their queued jobs.';
comment on column brokerage.task_facts.account_running_cores is 'Cores of their running jobs.';
comment on column brokerage.task_facts.account_queued_cores is 'Cores of their queued jobs.';
comment on column brokerage.task_facts.cap_jobs is 'CAP_RUNNING_USER_JOBS, or that of groups; null or 0 = no limit.';
comment on column brokerage.task_facts.cap_cores is
  'CAP_RUNNING_USER_CORES, or that of groups; null or 0 = no limit.';
comment on column brokerage.task_facts.quota_used is 'Disk that the account uses (bytes); null = not known.';
comment on column brokerage.task_facts.quota_limit is 'Its disk quota (bytes); null = not known.';
comment on column brokerage.task_facts.quota_is_kept is
  'The quota was read and is not exceeded; null = there is no quota.';
comment on column brokerage.task_facts.quota_is_near is 'More than nine tenths of the quota are used.';
comment on column brokerage.task_facts.over_local is 'Storages of which the user''s own quota is used up.';
comment on column brokerage.task_facts.share_usage is 'Usage of the share divided by its target; null = not known.';
comment on column brokerage.task_facts.share_usage_above is
  'The like with the share above it, L1 User Analysis; null = not known.';
comment on column brokerage.task_facts.share_queued is 'Queued jobs of the share at all queues.';
comment on column brokerage.task_facts.share_running is 'Running jobs of the share at all queues.';
comment on column brokerage.task_facts.task_class is 'Class of the task: 2 S, 1 A, 0 B, -1 C; null = not evaluated.';
comment on column brokerage.task_facts.rem_slots_a is
  'Slots left to the user until class A ends; null = the user was not evaluated.';
comment on column brokerage.task_facts.user_usage_threshold_a is 'USER_USAGE_THRESHOLD_A (slots).';
comment on column brokerage.task_facts.included_sites is
  'Patterns (like) of the queues that it is limited to; null = it is not limited.';
comment on column brokerage.task_facts.excluded_sites is
  'Patterns (like) of the queues that it does not want; null = none.';
comment on column brokerage.task_facts.sites is 'Patterns (like) of the queues of its site; null = it names none.';
comment on column brokerage.task_facts.limited_sites is 'Split rule limitedSites.';
comment on column brokerage.task_facts.sites_used is 'Queues that jobs of it went to.';
comment on column brokerage.task_facts.avoid_vp is 'It does not want queues of virtual placement.';
comment on column brokerage.task_facts.cloud is 'Cloud; null or empty = any.';
comment on column brokerage.task_facts.n_gb_per_job is 'Input of a job (GB); null = not limited so.';
comment on column brokerage.task_facts.is_distributed is 'An input dataset is distributed over many places.';
comment on column brokerage.task_facts.has_platform is 'Its architecture names a platform.';
comment on column brokerage.task_facts.wan_problem is
  'An input dataset that can be read over WAN nowhere; null = there is none.';
comment on column brokerage.task_facts.second_pass is
  'It found nothing with its input in place, and is decided once more without.';
comment on column brokerage.task_facts.io_intensity_cutoff_user is 'IO_INTENSITY_CUTOFF_USER (kB/s); null = not set.';
comment on column brokerage.task_facts.data_check_timeout_user is 'DATA_CHECK_TIMEOUT_USER (h); null = never.';
comment on column brokerage.task_facts.min_bad_jobs_to_skip_pq is 'MIN_BAD_JOBS_TO_SKIP_PQ (jobs).';
comment on column brokerage.task_facts.overload_min_queue is 'OVERLOAD_MIN_QUEUE (jobs).';
comment on column brokerage.task_facts.overload_ratio_offset is 'OVERLOAD_RATIO_OFFSET.';
comment on column brokerage.task_facts.base_queue_length_per_pq is 'BASE_QUEUE_LENGTH_PER_PQ (jobs).';
comment on column brokerage.task_facts.base_expected_wait_hour_on_pq is 'BASE_EXPECTED_WAIT_HOUR_ON_PQ (h).';
comment on column brokerage.task_facts.base_default_queue_length_per_pq_user is
  'BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER (jobs).';
comment on column brokerage.task_facts.base_queue_ratio_on_pq is 'BASE_QUEUE_RATIO_ON_PQ.';
comment on column brokerage.task_facts.static_max_queue_running_ratio is 'STATIC_MAX_QUEUE_RUNNING_RATIO.';
comment on column brokerage.task_facts.max_expected_wait_hour is 'MAX_EXPECTED_WAIT_HOUR (h).';
comment on column brokerage.task_facts.storage_min_free_size_output is 'STORAGE_MIN_FREE_SIZE_OUTPUT (GB).';

create type brokerage.queue_facts as (
  queue text,
  unified_name text,
  child_type text,
  panda_site text,
  is_nucleus boolean,
  type text,
  is_production boolean,
  cloud text,
  status text,
  storage_site text,
  corecount int,
  unified_corecount int,
  corepower float8,
  maxrss float8,
  minrss float8,
  maxtime float8,
  mintime float8,
  maxwdir float8,
  reads_always_directly boolean,
  direct_access_lan boolean,
  pledgedcpu float8,
  transferringlimit float8,
  connectivity text,
  ip_stack text,
  jobseed text,
  maxdiskio float8,
  average_diskio float8,
  max_io_intensity float8,
  bare_nucleus text,
  uses_jumbo boolean,
  min_events_for_jumbo float8,
  uses_only_local_data boolean,
  job_chunk_size int,
  releases_any boolean,
  releases_auto boolean,
  publishes_software boolean,
  pilots bigint,
  laststart timestamptz,
  workers bigint,
  ups boolean,
  has_slots boolean,
  core_running bigint,
  running_all bigint,
  activated_all bigint,
  starting_all bigint,
  transferring_all bigint,
  transferring_to_unwritable bigint,
  has_output_storage boolean,
  space_free float8,
  space_usable float8,
  input_storages int,
  inputs_readable int,
  output_storages int,
  outputs_writable int,
  datadisk_read_lan boolean,
  datadisk_write_lan boolean,
  datadisk_write_wan boolean,
  datadisk_read_wan boolean,
  lock_age interval,
  live_jobs bigint,
  attributes jsonb,
  queued_into float8,
  remaining_work float8,
  site_class int,
  has_vp_input boolean,
  output_storage text,
  input_space_usable float8,
  inputs_writable_wan int,
  outputs_readable_wan int
);
comment on type brokerage.queue_facts is
  'A queue as rules see it: a PanDA queue, or a pseudo-queue of a unified one. Limits: null = no limit.';
comment on column brokerage.queue_facts.queue is 'Name of the candidate: the queue, or queue/resource type.';
comment on column brokerage.queue_facts.unified_name is 'PanDA queue; statistics are kept by it.';
comment on column brokerage.queue_facts.child_type is 'Resource type of a pseudo-queue; null = it is none.';
comment on column brokerage.queue_facts.panda_site is 'PanDA site.';
comment on column brokerage.queue_facts.is_nucleus is 'It has the role nucleus.';
comment on column brokerage.queue_facts.type is 'production, analysis, unified or another.';
comment on column brokerage.queue_facts.is_production is
  'Runs production: type production or unified, or grandly_unified.';
comment on column brokerage.queue_facts.status is 'online, ...';
comment on column brokerage.queue_facts.storage_site is 'Storage site that links are looked up by.';
comment on column brokerage.queue_facts.corecount is 'Cores of a slot; null or 0 counts 1.';
comment on column brokerage.queue_facts.unified_corecount is
  'Cores of a slot of the whole queue, not of the pseudo-queue.';
comment on column brokerage.queue_facts.corepower is 'HS06 per core, not 0.';
comment on column brokerage.queue_facts.maxrss is 'Memory of a slot at most (MB).';
comment on column brokerage.queue_facts.minrss is 'Memory of a slot at least (MB).';
comment on column brokerage.queue_facts.maxtime is 'Walltime at most (s).';
comment on column brokerage.queue_facts.mintime is 'Walltime at least (s).';
comment on column brokerage.queue_facts.maxwdir is 'Scratch of a slot of the whole queue at most (MiB).';
comment on column brokerage.queue_facts.reads_always_directly is 'maxinputsize is -1.';
comment on column brokerage.queue_facts.direct_access_lan is 'Input can be read directly from the local storage.';
comment on column brokerage.queue_facts.pledgedcpu is 'Pledged cores; -1 = opportunistic, 0 = none.';
comment on column brokerage.queue_facts.transferringlimit is 'Transferring jobs at most; 2000 where not set.';
comment on column brokerage.queue_facts.connectivity is 'full, http, none; null = not given.';
comment on column brokerage.queue_facts.ip_stack is 'IPv4, IPv6; null = not given.';
comment on column brokerage.queue_facts.jobseed is 'std, es, eshigh or all.';
comment on column brokerage.queue_facts.maxdiskio is 'diskIO per core at most (kB/s); null = the default counts.';
comment on column brokerage.queue_facts.average_diskio is
  'Mean diskIO of running jobs (kB/s per core); null = none is running.';
comment on column brokerage.queue_facts.max_io_intensity is 'ioIntensity at most (kB/s).';
comment on column brokerage.queue_facts.bare_nucleus is 'bareNucleus of the queue: only or allow.';
comment on column brokerage.queue_facts.uses_jumbo is 'useJumboJobs.';
comment on column brokerage.queue_facts.min_events_for_jumbo is 'minEventsForJumbo.';
comment on column brokerage.queue_facts.uses_only_local_data is 'use_only_local_data.';
comment on column brokerage.queue_facts.job_chunk_size is 'jobChunkSize: jobs that one choice serves.';
comment on column brokerage.queue_facts.releases_any is 'ANY is among the releases.';
comment on column brokerage.queue_facts.releases_auto is 'AUTO is among the releases.';
comment on column brokerage.queue_facts.publishes_software is 'It has an entry in the software JSON.';
comment on column brokerage.queue_facts.pilots is
  'Requests of pilots in the last 3 h (getJob and updateJob); 0 = none, or no record.';
comment on column brokerage.queue_facts.laststart is 'When a job last started.';
comment on column brokerage.queue_facts.workers is 'Batch workers running and submitted.';
comment on column brokerage.queue_facts.ups is 'A pull queue of unified pilot streaming.';
comment on column brokerage.queue_facts.has_slots is 'Slots are defined for the queue, of whatever share.';
comment on column brokerage.queue_facts.core_running is 'Cores of running and starting jobs.';
comment on column brokerage.queue_facts.running_all is 'Running jobs of all shares.';
comment on column brokerage.queue_facts.activated_all is 'Activated jobs of all shares.';
comment on column brokerage.queue_facts.starting_all is 'Starting jobs of all shares.';
comment on column brokerage.queue_facts.transferring_all is 'Transferring jobs of all shares.';
comment on column brokerage.queue_facts.transferring_to_unwritable is
  'Those of them that go to nuclei whose storage cannot be written.';
comment on column brokerage.queue_facts.has_output_storage is 'A default output storage is known.';
comment on column brokerage.queue_facts.space_free is 'Free space of the default output storage (GB).';
comment on column brokerage.queue_facts.space_usable is
  'Its usable space: free + expired - min_free - unavailable (GB).';
comment on column brokerage.queue_facts.input_storages is 'Input storages.';
comment on column brokerage.queue_facts.inputs_readable is 'Those whose read_lan is not OFF or TEST.';
comment on column brokerage.queue_facts.output_storages is 'Output storages.';
comment on column brokerage.queue_facts.outputs_writable is 'Those whose write_lan is not OFF or TEST.';
comment on column brokerage.queue_facts.datadisk_read_lan is 'An input DATADISK can be read over LAN.';
comment on column brokerage.queue_facts.datadisk_write_lan is 'An output DATADISK can be written over LAN.';
comment on column brokerage.queue_facts.datadisk_write_wan is 'An input DATADISK can be written over WAN.';
comment on column brokerage.queue_facts.datadisk_read_wan is 'An output DATADISK can be read over WAN.';
comment on column brokerage.queue_facts.lock_age is 'Since when another broker locks it; null = it is not locked.';
comment on column brokerage.queue_facts.live_jobs is 'Jobs assigned lately that no statistics count (live counter).';
comment on column brokerage.queue_facts.attributes is
  'catchall and params as an object, CRIC''s other fields below them; for rules of your own.';
comment on column brokerage.queue_facts.queued_into is
  'A nucleus: files queued on all links into it, Production Output; infinite if its backlog is marked as unlimited.';
comment on column brokerage.queue_facts.remaining_work is
  'A nucleus: work that is left at it, of all shares (HS06 s).';
comment on column brokerage.queue_facts.site_class is
  'Class for user analysis: 1 hi, 0 mid, -1 lo; null = not classified.';
comment on column brokerage.queue_facts.has_vp_input is 'An input storage is one of virtual placement (..._VP_DISK).';
comment on column brokerage.queue_facts.output_storage is 'Default output storage.';
comment on column brokerage.queue_facts.input_space_usable is
  'Usable space of the default input storage (GB); null = it is the output storage.';
comment on column brokerage.queue_facts.inputs_writable_wan is 'Input storages whose write_wan is not OFF or TEST.';
comment on column brokerage.queue_facts.outputs_readable_wan is 'Output storages whose read_wan is not OFF or TEST.';

create type brokerage.pair_facts as (
  is_preassigned boolean,
  preassigned_alone boolean,
  is_nucleus_queue boolean,
  is_near boolean,
  is_own boolean,
  closeness float8,
  queued float8,
  queued_express float8,
  mbps float8,
  running bigint,
  starting bigint,
  activated bigint,
  assigned bigint,
  defined bigint,
  numslots bigint,
  type_running bigint,
  type_starting bigint,
  type_activated bigint,
  type_assigned bigint,
  type_defined bigint,
  available_files bigint,
  available_bytes bigint,
  reachable_files bigint,
  reachable_bytes bigint,
  input_is_local boolean,
  has_readable_source boolean,
  zero_share text,
  software text,
  platform_level_percent float8,
  weight float8,
  remaining_work float8,
  located_files bigint,
  located_bytes bigint,
  located_disk_files bigint,
  located_disk_bytes bigint,
  space float8,
  weighed_space float8,
  space_total float8,
  output_problem text,
  wan_problem text,
  input_problem text,
  input_copies float8,
  failed bigint,
  closed bigint,
  finished bigint,
  user_queued bigint,
  user_running bigint,
  users bigint,
  users_running bigint,
  to_running_rate float8
);
comment on type brokerage.pair_facts is 'Facts about a task and a queue together.';
comment on column brokerage.pair_facts.is_preassigned is 'The task is pre-assigned to the queue.';
comment on column brokerage.pair_facts.preassigned_alone is 'To this queue and no other.';
comment on column brokerage.pair_facts.is_nucleus_queue is 'A nucleus queue of the task''s nucleus.';
comment on column brokerage.pair_facts.is_near is 'A nucleus queue, or one that shares its storage.';
comment on column brokerage.pair_facts.is_own is 'Its storage site is the nucleus.';
comment on column brokerage.pair_facts.closeness is
  'Closeness of the link to the nucleus; -1 = blocked, null = not known.';
comment on column brokerage.pair_facts.queued is
  'Files queued on the link, Production Output; null = no such link is known.';
comment on column brokerage.pair_facts.queued_express is 'The same for activity Express.';
comment on column brokerage.pair_facts.mbps is
  'Throughput of the link (MB/s): of the last hour, else day, else week.';
comment on column brokerage.pair_facts.running is 'Running jobs of the share.';
comment on column brokerage.pair_facts.starting is 'Starting jobs of the share.';
comment on column brokerage.pair_facts.activated is 'Activated jobs of the share.';
comment on column brokerage.pair_facts.assigned is 'Assigned jobs of the share.';
comment on column brokerage.pair_facts.defined is 'Defined jobs of the share.';
comment on column brokerage.pair_facts.numslots is
  'Slots in cores for the share and resource type; null = none are defined.';
comment on column brokerage.pair_facts.type_running is
  'Running jobs of the share and the task''s resource types; null = no statistics of them.';
comment on column brokerage.pair_facts.type_starting is 'Starting jobs of them.';
comment on column brokerage.pair_facts.type_activated is 'Activated jobs of them.';
comment on column brokerage.pair_facts.type_assigned is 'Assigned jobs of them.';
comment on column brokerage.pair_facts.type_defined is 'Defined jobs of them.';
comment on column brokerage.pair_facts.available_files is 'Files of the input on disk there.';
comment on column brokerage.pair_facts.available_bytes is 'Their bytes.';
comment on column brokerage.pair_facts.reachable_files is 'Files there on disk or tape.';
comment on column brokerage.pair_facts.reachable_bytes is 'Their bytes.';
comment on column brokerage.pair_facts.input_is_local is 'All of the input is on disk there.';
comment on column brokerage.pair_facts.has_readable_source is 'All of the input can be read over WAN somewhere.';
comment on column brokerage.pair_facts.zero_share is
  'Sub-policy of the fairsharepolicy that refuses the task; null = none does.';
comment on column brokerage.pair_facts.software is
  'Why the software or hardware published there does not fit; null = it fits, or nothing is published.';
comment on column brokerage.pair_facts.platform_level_percent is
  'Percent of its CPUs at the architecture level that the task prefers; null = it prefers none.';
comment on column brokerage.pair_facts.weight is
  'Weight so far, for rules that stand behind the weights; null before.';
comment on column brokerage.pair_facts.remaining_work is
  'Work left at the nucleus in tasks of the share with at least the task''s priority (HS06 s).';
comment on column brokerage.pair_facts.located_files is
  'Files at the nucleus of the datasets whose place counts: of each dataset at its best input storage.';
comment on column brokerage.pair_facts.located_bytes is 'Their bytes.';
comment on column brokerage.pair_facts.located_disk_files is 'Those on disk alone.';
comment on column brokerage.pair_facts.located_disk_bytes is 'Their bytes.';
comment on column brokerage.pair_facts.space is
  'Space for the output (GB): free and expired; with panda2026 less minimum and unavailable, of the storage that '
  'has least.';
comment on column brokerage.pair_facts.weighed_space is 'The same for the storage of which the least part is left.';
comment on column brokerage.pair_facts.space_total is 'All space of that storage (GB); null = not known.';
comment on column brokerage.pair_facts.output_problem is
  'An output dataset for which the nucleus has no storage; null = there is none.';
comment on column brokerage.pair_facts.wan_problem is
  'An output storage that others cannot reach; null = there is none.';
comment on column brokerage.pair_facts.input_problem is 'Why the input is not there (anal-locality); null = it is.';
comment on column brokerage.pair_facts.input_copies is
  'Datasets there: 1 each on disk, 0.001 on tape; null = not all can be at one queue.';
comment on column brokerage.pair_facts.failed is 'Jobs of the task that failed there lately.';
comment on column brokerage.pair_facts.closed is 'Jobs of the task that were closed there lately, to run elsewhere.';
comment on column brokerage.pair_facts.finished is 'Jobs of the task that finished there lately.';
comment on column brokerage.pair_facts.user_queued is
  'Queued jobs of the user and share there; null = the user has no entry.';
comment on column brokerage.pair_facts.user_running is 'Running jobs of the user and share there.';
comment on column brokerage.pair_facts.users is 'Users of the share there, at least 1.';
comment on column brokerage.pair_facts.users_running is 'Running jobs of all users of the share there.';
comment on column brokerage.pair_facts.to_running_rate is 'Jobs of the share that start there per hour.';

create type brokerage.survivor as (
  queue text,
  unified_name text,
  factors float8[],
  q brokerage.queue_facts,
  p brokerage.pair_facts
);
comment on type brokerage.survivor is
  'A queue that no rule rejects for a task, with the facts for another evaluation after jobs were assigned.';
comment on column brokerage.survivor.queue is 'Queue, or pseudo-queue of a unified one.';
comment on column brokerage.survivor.unified_name is 'PanDA queue.';
comment on column brokerage.survivor.factors is 'Factors of its weight, in the order of the weights of the profile.';
comment on column brokerage.survivor.q is 'The queue.';
comment on column brokerage.survivor.p is 'The pair.';

create table brokerage.nucleus_assignment (
  setup       text not null references resource.setup on delete cascade,
  task_id     bigint not null,
  run_id      bigint not null,
  nucleus     text not null,
  probability float8 not null check (probability between 0 and 1),
  gshare      text,
  priority    int not null,
  work        float8 not null check (work >= 0),
  assigned_at timestamptz not null,
  primary key (setup, task_id),
  foreign key (setup, run_id) references brokerage.run on delete cascade
);
create index nucleus_assignment_nucleus on brokerage.nucleus_assignment (setup, nucleus, gshare, priority);
comment on table brokerage.nucleus_assignment is
  'Nuclei that the task broker gave to tasks, and the work that the tasks brought there.';
comment on column brokerage.nucleus_assignment.run_id is 'Run that decided.';
comment on column brokerage.nucleus_assignment.probability is 'How probable the choice was, 0 to 1.';
comment on column brokerage.nucleus_assignment.gshare is 'Global share of the task.';
comment on column brokerage.nucleus_assignment.priority is 'Current priority of the task then.';
comment on column brokerage.nucleus_assignment.work is 'CPU time that its events need (HS06 s).';
comment on column brokerage.nucleus_assignment.assigned_at is 'When (resource.clock).';
