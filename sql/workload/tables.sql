-- Tables, types and sequences of the schema workload, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

-- Order of the history of jobs.
create sequence workload.job_history_number;

-- Ids of jobs made here, from 10^12 on: those that submitters give are below.
create sequence workload.job_id start with 1000000000000;

-- Datasets.
create table workload.dataset (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  dataset text not null,  -- Name.
  type text default 'input'::text,  -- input, output, log, lib, pseudo_input, ...
  site text,  -- Queues that jobs of it are pre-assigned to, separated by commas (merging).
  created timestamp with time zone,  -- When it was made.
  modified timestamp with time zone,  -- When it was last changed.
  distributed boolean default false,  -- Its files are at many places, none has all.
  constraint dataset_pkey primary key (setup, dataset)
);

-- Files of datasets.
create table workload.dataset_file (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  dataset text not null,  -- Dataset.
  "position" integer not null check ("position" > -1e9 and "position" < 1e9),  -- Order, from 1.
  lfn text,  -- Logical file name.
  size bigint default 0 check (size > -1e15 and size < 1e15),  -- Bytes.
  nevents bigint default 0 check (nevents > -1e15 and nevents < 1e15),  -- Events.
  start_event bigint check (start_event > -1e15 and start_event < 1e15),  -- First event.
  end_event bigint check (end_event > -1e15 and end_event < 1e15),  -- Last event.
  constraint dataset_file_pkey primary key (setup, dataset, "position"),
  constraint dataset_file_nevents_allowed check (nevents >= 0),  -- 0 or more
  constraint dataset_file_size_allowed check (size >= 0)  -- 0 or more
);

-- Jobs that ended, by task, queue and minute; workload.job_change adds to them.
create table workload.end_count (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_id bigint not null,  -- Task.
  queue text,  -- Unified queue; null = none yet.
  status text not null,  -- finished, failed, cancelled or closed.
  minute timestamp with time zone not null,  -- The minute, by its begin.
  jobs bigint not null,  -- Jobs.
  constraint end_count_key unique nulls not distinct (setup, task_id, queue, status, minute)
);

-- What a task's input amounts to, as brokerage reads it. Derived from its datasets by workload.digest_input.
create table workload.input_digest (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_id bigint not null,  -- Task.
  files bigint,  -- Files of the datasets that are not pseudo, each name once.
  size bigint,  -- Their bytes.
  shared_files boolean,  -- A name is in two datasets of the task.
  jobs bigint,  -- Jobs: groups of nFilesPerJob primary files.
  job_events bigint,  -- Events of the largest job.
  job_input_mb double precision,  -- Input of the largest job from the primary dataset (MB, a file of size 0 counts 1).
  job_input_bytes bigint,  -- Input of the largest job from all datasets (bytes).
  events bigint,  -- Events of the primary dataset.
  constraint input_digest_pkey primary key (setup, task_id)
);

-- Jobs. Brokerage counts them.
create table workload.job (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  job_id bigint not null,  -- PanDA id.
  task_id bigint,  -- Task; null = none.
  queue text,  -- Unified queue; null = not brokered.
  status text,  -- PanDA's status: defined, assigned, activated, starting, running, ...
  sub_status text,  -- Status within.
  priority integer,  -- Current priority.
  gshare text,  -- Global share.
  label text,  -- prodSourceLabel.
  user_name text,  -- User.
  working_group text,  -- Working group.
  resource_type text,  -- Resource type.
  cores integer,  -- Cores.
  created timestamp with time zone,  -- When it was made.
  -- When it last changed or, for one that no JobAgent of this database has, was last heard of.
  modified timestamp with time zone,
  state_changed timestamp with time zone,  -- When its status changed.
  started timestamp with time zone,  -- When it started.
  ended timestamp with time zone,  -- When it ended.
  workflow text,  -- Workflow.
  relocation_flag smallint,  -- PanDA's relocationFlag.
  activated timestamp with time zone,  -- Since when it waited for a worker node; null = since it was created.
  processing_type text,  -- processingType; pmerge is a merge job; null = as its task.
  nucleus text,  -- Nucleus of its task when it was made; null = none.
  number bigint,  -- Which part of its task's input it works on, from 1; null = not made here.
  -- 0 = its part of the input is its own; else the how-manieth job of that part it was whose work went back to the
  -- task.
  rebrokered integer default 0 not null,
  previous_queues text[],  -- Queues where its part of the input was before, oldest first; null = none.
  disk_io double precision,  -- diskIO of its task (kB/s per core); null = not known.
  input_files bigint,  -- Files it reads; null = not made here.
  input_bytes bigint,  -- Bytes of them; null = not made here.
  events bigint,  -- Events of its part of the primary input; null = not made here.
  constraint job_pkey primary key (setup, job_id)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
create index job_active on workload.job (setup, task_id, queue) where (ended is null);
create index job_analysis on workload.job (setup, started) where (gshare = 'User Analysis'::text);
-- Each part of a task's input is the work of one job at a time.
create unique index job_task on workload.job (setup, task_id, number, rebrokered);

-- Changes of status that the counts below do not hold yet: one row a change, or a group of equal ones.
create table workload.job_change (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  at timestamp with time zone not null,  -- When.
  jobs bigint not null,  -- Jobs that changed.
  from_status text,  -- Status before; null = made.
  to_status text,  -- Status after; null = forgotten.
  task_id bigint,  -- Task; null = none.
  queue text,  -- Unified queue; null = none yet.
  gshare text,  -- Global share; null = none.
  resource_type text,  -- Resource type; null = none.
  nucleus text,  -- Nucleus that outputs go to; null = none.
  label text,  -- prodSourceLabel; null = none.
  user_name text,  -- User; null = none.
  working_group text,  -- Working group; null = none.
  processing_type text,  -- processingType; null = none.
  cores bigint not null,  -- Cores of these jobs.
  disk_io numeric,  -- Sum of their diskIO; null = not known of any.
  disk_io_jobs bigint not null  -- How many of them say a diskIO.
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);

-- Every change of a job's status.
create table workload.job_history (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  at timestamp with time zone not null,  -- When.
  number bigint default nextval('workload.job_history_number'::regclass) not null,  -- Order of changes at one time.
  job_id bigint not null,  -- Job.
  from_status text,  -- Status before; null = made.
  to_status text not null,  -- Status after.
  role_name text not null,  -- Who: the database role that called.
  why text  -- Why: what was called, or the rule that applied.
) partition by range (at);
create index job_history_job on workload.job_history (setup, job_id, at);

create table workload.job_history_default partition of workload.job_history default;

-- Jobs that have not ended, counted by what brokerage looks at; workload.job_change adds to them.
create table workload.queue_count (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text,  -- Unified queue; null = none yet.
  gshare text,  -- Global share; null = none.
  resource_type text,  -- Resource type; null = none.
  nucleus text,  -- Nucleus that outputs go to; null = none.
  label text,  -- prodSourceLabel; null = none.
  status text not null,  -- Status.
  jobs bigint not null,  -- Jobs.
  cores bigint not null,  -- Cores of them.
  disk_io numeric not null,  -- Sum of the diskIO of those that say one.
  disk_io_jobs bigint not null,  -- How many say one.
  constraint queue_count_key unique nulls not distinct (setup, queue, gshare, resource_type, nucleus, label, status)
) with (fillfactor=50);

-- Work that is left at a nucleus (HS06 s).
create table workload.remaining_work (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  nucleus text not null,  -- Nucleus.
  gshare text not null,  -- Global share; empty = the whole work of the nucleus.
  -- Priority of the tasks; 0 with the whole work.
  priority integer not null check (priority > -1e9 and priority < 1e9),
  work double precision check (work > -1e15 and work < 1e15),  -- HS06 s.
  constraint remaining_work_pkey primary key (setup, nucleus, gshare, priority),
  constraint remaining_work_work_allowed check (work >= 0)  -- 0 or more
);

-- Replicas of datasets. Complete when found = total; an incomplete one holds its lfns, or the first files of the
-- dataset.
create table workload.replica (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  dataset text not null,  -- Dataset.
  storage text not null,  -- Storage endpoint.
  found bigint check (found > -1e15 and found < 1e15),  -- Files there; null = as many as lfns, else all.
  total bigint check (total > -1e15 and total < 1e15),  -- Files of the dataset; null = as many as it has here.
  asize bigint check (asize > -1e15 and asize < 1e15),  -- Bytes there; null = summed from the files.
  tsize bigint check (tsize > -1e15 and tsize < 1e15),  -- Bytes of the dataset; null = summed from the files.
  vp boolean default false,  -- A virtual placement: a cache may hold it.
  lfns text[],  -- Files there, where not all are; null = the first found ones.
  constraint replica_pkey primary key (setup, dataset, storage),
  constraint replica_asize_allowed check (asize >= 0),  -- 0 or more
  constraint replica_found_allowed check (found >= 0),  -- 0 or more
  constraint replica_total_allowed check (total >= 0),  -- 0 or more
  constraint replica_tsize_allowed check (tsize >= 0)  -- 0 or more
);
create index replica_storage on workload.replica (setup, storage);

-- Jobs that began to run, by minute; workload.job_change adds to them.
create table workload.start_count (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text,  -- Unified queue; null = none yet.
  gshare text,  -- Global share; null = none.
  resource_type text,  -- Resource type; null = none.
  minute timestamp with time zone not null,  -- The minute, by its begin.
  jobs bigint not null,  -- Jobs.
  last_at timestamp with time zone not null,  -- The last of them.
  constraint start_count_key unique nulls not distinct (setup, queue, gshare, resource_type, minute)
);
create index start_count_last on workload.start_count (setup, queue, last_at);

-- Job counts kept elsewhere; they add to those of workload.job (workload.job_statistic).
create table workload.statistic (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  number bigint generated always as identity not null,  -- Which row.
  queue text,  -- Unified queue.
  gshare text,  -- Global share.
  resource_type text,  -- Resource type.
  nucleus text,  -- Nucleus that outputs go to.
  label text,  -- prodSourceLabel.
  status text,  -- Status of the jobs.
  njobs bigint default 0 check (njobs > -1e15 and njobs < 1e15),  -- Jobs.
  ncores bigint check (ncores > -1e15 and ncores < 1e15),  -- Cores.
  diskio double precision check (diskio > -1e15 and diskio < 1e15),  -- Mean diskIO of running jobs (kB/s per core).
  constraint statistic_pkey primary key (setup, number),
  constraint statistic_diskio_allowed check (diskio >= 0),  -- 0 or more
  constraint statistic_ncores_allowed check (ncores >= 0),  -- 0 or more
  constraint statistic_njobs_allowed check (njobs >= 0),  -- 0 or more
  -- a status of jobs: pending, defined, waiting, assigned, activated, throttled, sent, starting, running, holding,
  -- merging, transferring, finished, failed, cancelled, closed
  constraint statistic_status_allowed check (status = any (array['pending'::text, 'defined'::text, 'waiting'::text,
    'assigned'::text, 'activated'::text, 'throttled'::text, 'sent'::text, 'starting'::text, 'running'::text,
    'holding'::text, 'merging'::text, 'transferring'::text, 'finished'::text, 'failed'::text, 'cancelled'::text,
    'closed'::text]))
);
create index statistic_queue on workload.statistic (setup, queue);

-- Tasks, or the chunk of a task that is to be brokered. Names are JEDI's.
create table workload.task (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_id bigint not null,  -- JEDI task id.
  label text default 'managed'::text,  -- prodSourceLabel: managed, user, test, ...
  gshare text default 'Reprocessing default'::text,  -- Global share.
  -- JEDI's status; tasks in assigning are brokered to nuclei, the jobs of ready, scouting, running and pending ones.
  status text default 'ready'::text,
  user_name text,  -- User.
  orig_user text,  -- User before the name was cleaned.
  working_group text,  -- Working group; null = none.
  processing_type text default 'reprocessing'::text,  -- Processing type: evgen, simul, reprocessing, urgent, ...
  task_priority integer default 500 check (task_priority > -1e9 and task_priority < 1e9),  -- Priority of the task.
  -- Priority now; high from 800, express from 1000.
  current_priority integer default 500 check (current_priority > -1e9 and current_priority < 1e9),
  core_count integer default 1 check (core_count > -1e9 and core_count < 1e9),  -- Cores of a job; 0 = any, null = 1.
  -- Cores of a merge job; null = as core_count.
  merge_core_count integer check (merge_core_count > -1e9 and merge_core_count < 1e9),
  -- Cores of a queue at most (split rule maxCoreCount).
  max_core_count integer check (max_core_count > -1e9 and max_core_count < 1e9),
  -- Memory (MB), see ram_unit; null or 0 = not known.
  ram_count double precision default 2000 check (ram_count > -1e15 and ram_count < 1e15),
  ram_unit text default 'MBPerCore'::text,  -- MB, MBPerCore or MBPerCoreFixed.
  -- Memory beside what grows with cores (MB).
  base_ram_count double precision default 0 check (base_ram_count > -1e15 and base_ram_count < 1e15),
  -- Memory of a merge job (MB).
  merge_ram_count double precision check (merge_ram_count > -1e15 and merge_ram_count < 1e15),
  -- Memory that this chunk needs, where it is more than the task's (MB).
  chunk_ram_count double precision check (chunk_ram_count > -1e15 and chunk_ram_count < 1e15),
  cpu_time double precision default 1 check (cpu_time > -1e15 and cpu_time < 1e15),  -- CPU time, see cpu_time_unit.
  -- HS06sPerEvent, mHS06sPerEvent (a thousandth), or none of HS06: walltime counts.
  cpu_time_unit text default 'HS06sPerEvent'::text,
  -- Percent of the walltime that is CPU time; null counts 90.
  cpu_efficiency double precision default 90 check (cpu_efficiency > -1e15 and cpu_efficiency < 1e15),
  -- Walltime beside the events (s).
  base_walltime double precision default 0 check (base_walltime > -1e15 and base_walltime < 1e15),
  -- Walltime (s per MB of input), where cpu_time_unit is not HS06.
  walltime double precision check (walltime > -1e15 and walltime < 1e15),
  walltime_unit text,  -- Unit of walltime; null = walltime is not known.
  -- Output, see out_disk_unit.
  out_disk_count double precision default 0 check (out_disk_count > -1e15 and out_disk_count < 1e15),
  out_disk_unit text default 'kB'::text,  -- B, kB, MB or GB; PerEvent: for each event, else for each MB of input.
  -- Scratch beside input and output, see work_disk_unit; null = none.
  work_disk_count double precision check (work_disk_count > -1e15 and work_disk_count < 1e15),
  work_disk_unit text default 'MB'::text,  -- B, kB, MB or GB.
  -- Input and output per second (kB/s).
  io_intensity double precision check (io_intensity > -1e15 and io_intensity < 1e15),
  disk_io double precision check (disk_io > -1e15 and disk_io < 1e15),  -- Disk IO per second (kB/s).
  architecture text,  -- sw_platform<@base_platform><#host_cpu_spec><&host_gpu_spec>, or JSON.
  trans_home text,  -- Release: AtlasOffline-21.0.38, Athena-22.0.1, ...
  trans_uses text,  -- Base release of user jobs.
  container_name text,  -- Container; null = none.
  only_tags_for_fc boolean default false,  -- The container must be one of the published tags.
  nucleus text,  -- Nucleus that outputs are gathered at; null = not yet brokered.
  cloud text,  -- Cloud.
  site text,  -- Pre-assigned queues, separated by commas.
  parent bigint,  -- Task whose output is the input.
  resource_type text default 'SCORE'::text,  -- Resource type.
  event_service smallint default 0,  -- 0 = none, 1 or 2 = event service.
  frozen timestamp with time zone,  -- Since when nothing goes on.
  task_class smallint,  -- Class of user analysis: 2 S, 1 A, 0 B, -1 C; null = not evaluated.
  is_merging boolean default false,  -- The chunk makes merge jobs.
  use_scout boolean default false,  -- The chunk makes scout jobs.
  -- Weight of the nucleus; negative: only queues of the nucleus.
  t1_weight double precision check (t1_weight > -1e15 and t1_weight < 1e15),
  ip_connectivity smallint,  -- Outbound network that jobs need: 1 full, 2 http, 3 none; null = not said.
  ip_stack smallint,  -- IP stack that jobs need: 4 or 6; null = not said.
  allow_input_lan smallint,  -- Direct access to input: 1 use, 2 only; null = copy.
  allow_input_wan smallint,  -- Direct access to remote input: 1 use, 2 only.
  use_local_io boolean default false,  -- Input is copied, whatever allow_input_lan says.
  input_pre_staging boolean default false,  -- Data carousel: input is staged while the task runs.
  merge_output boolean default false,  -- Outputs are merged (pre-merged jobs).
  full_chain smallint,  -- 1 only, 2 require, 3 capable.
  limited_sites boolean default false,  -- Sites are limited by included_site and excluded_site.
  avoid_vp boolean default false,  -- No queues of virtual placement.
  scouting smallint,  -- Split rule useScout: 1 scouting wanted, 2 done.
  n_files_per_job bigint check (n_files_per_job > -1e15 and n_files_per_job < 1e15),  -- Files a job; null counts 1.
  -- Files a merge job; null counts 1.
  n_files_per_merge_job bigint check (n_files_per_merge_job > -1e15 and n_files_per_merge_job < 1e15),
  n_events_per_job bigint check (n_events_per_job > -1e15 and n_events_per_job < 1e15),  -- Events a job.
  n_gb_per_job double precision check (n_gb_per_job > -1e15 and n_gb_per_job < 1e15),  -- Input a job (GB).
  -- Dynamic number of events: events of the smallest job.
  dynamic_num_events bigint check (dynamic_num_events > -1e15 and dynamic_num_events < 1e15),
  -- Events a job at most, with the dynamic number of events.
  max_events_per_job bigint check (max_events_per_job > -1e15 and max_events_per_job < 1e15),
  allow_incomplete_in_ds boolean default false,  -- Incomplete input datasets are allowed.
  n_jumbo_jobs bigint check (n_jumbo_jobs > -1e15 and n_jumbo_jobs < 1e15),  -- Jumbo jobs.
  hpo_workflow boolean default false,  -- Hyperparameter optimisation.
  included_site text[],  -- Queues to use, names or patterns with *; null = all.
  excluded_site text[],  -- Queues not to use, names or patterns with *.
  task_broker_on_master boolean default false,  -- Only the first input dataset counts in task brokerage.
  sites_used text[] default '{}'::text[],  -- Queues that jobs of the task went to.
  resource_types_at jsonb default '{}'::jsonb,  -- Resource types of the task's jobs by queue.
  task_classified timestamp with time zone,  -- When task_class was said; null = it holds as it is.
  constraint task_pkey primary key (setup, task_id),
  constraint task_allow_input_lan_allowed check (allow_input_lan = any (array[1, 2])),  -- 1 (use) or 2 (only)
  constraint task_allow_input_wan_allowed check (allow_input_wan = any (array[1, 2])),  -- 1 (use) or 2 (only)
  constraint task_base_ram_count_allowed check (base_ram_count >= 0),  -- 0 or more
  constraint task_base_walltime_allowed check (base_walltime >= 0),  -- 0 or more
  constraint task_chunk_ram_count_allowed check (chunk_ram_count >= 0),  -- 0 or more
  constraint task_core_count_allowed check (core_count >= 0),  -- 0 or more
  constraint task_cpu_efficiency_allowed check (cpu_efficiency >= 0),  -- 0 or more
  constraint task_cpu_time_allowed check (cpu_time >= 0),  -- 0 or more
  -- HS06sPerEvent, mHS06sPerEvent (a thousandth), these with Fixed behind, or a unit of walltime such as kSI2kseconds
  constraint task_cpu_time_unit_allowed check (cpu_time_unit ~
    '^(m?HS06s?(PerEvent)?(Fixed)?|m?(s|sec|seconds|min|minutes|h|hours|kS|kSI2k[a-z]*)(Per(Event|MB|File))?(Fixed)?)?$'::text),
  constraint task_disk_io_allowed check (disk_io >= 0),  -- 0 or more
  constraint task_dynamic_num_events_allowed check (dynamic_num_events >= 0),  -- 0 or more
  constraint task_event_service_allowed check (event_service >= 0),  -- 0 or more
  constraint task_full_chain_allowed check (full_chain = any (array[1, 2, 3])),  -- 1 (only), 2 (require) or 3 (capable)
  constraint task_io_intensity_allowed check (io_intensity >= 0),  -- 0 or more
  -- 1 (full), 2 (http) or 3 (none)
  constraint task_ip_connectivity_allowed check (ip_connectivity = any (array[1, 2, 3])),
  constraint task_ip_stack_allowed check (ip_stack = any (array[4, 6])),  -- 4 (IPv4) or 6 (IPv6)
  constraint task_max_core_count_allowed check (max_core_count >= 0),  -- 0 or more
  constraint task_max_events_per_job_allowed check (max_events_per_job >= 1),  -- 1 or more
  constraint task_merge_core_count_allowed check (merge_core_count >= 0),  -- 0 or more
  constraint task_merge_ram_count_allowed check (merge_ram_count >= 0),  -- 0 or more
  constraint task_n_events_per_job_allowed check (n_events_per_job >= 1),  -- 1 or more
  constraint task_n_files_per_job_allowed check (n_files_per_job >= 1),  -- 1 or more
  constraint task_n_files_per_merge_job_allowed check (n_files_per_merge_job >= 1),  -- 1 or more
  constraint task_n_gb_per_job_allowed check (n_gb_per_job >= 0),  -- 0 or more
  constraint task_n_jumbo_jobs_allowed check (n_jumbo_jobs >= 0),  -- 0 or more
  -- a unit of disk space: B, kB, MB, GB or TB, perhaps with PerEvent or Fixed behind
  constraint task_out_disk_unit_allowed check (out_disk_unit ~ '^([kKmMgGtT]?[bB](Per(Event|MB))?(Fixed)?)?$'::text),
  constraint task_ram_count_allowed check (ram_count >= 0),  -- 0 or more
  -- MB, MBPerCore or MBPerCoreFixed
  constraint task_ram_unit_allowed check (ram_unit ~ '^(MB(PerCore)?(Fixed)?)?$'::text),
  constraint task_scouting_allowed check (scouting = any (array[1, 2])),  -- 1 (scouting) or 2 (done)
  -- a status of JEDI's: registered, defined, assigning, ready, pending, scouting, scouted, running, prepared, done,
  -- failed, finished, aborting, aborted, finishing, topreprocess, preprocessing, tobroken, broken, toretry, toincexec,
  -- toreassign, rerefine, paused, throttled, exhausted, passed, staging, staged, merging, waiting
  constraint task_status_allowed check (status = any (array['registered'::text, 'defined'::text, 'assigning'::text,
    'ready'::text, 'pending'::text, 'scouting'::text, 'scouted'::text, 'running'::text, 'prepared'::text, 'done'::text,
    'failed'::text, 'finished'::text, 'aborting'::text, 'aborted'::text, 'finishing'::text, 'topreprocess'::text,
    'preprocessing'::text, 'tobroken'::text, 'broken'::text, 'toretry'::text, 'toincexec'::text, 'toreassign'::text,
    'rerefine'::text, 'paused'::text, 'throttled'::text, 'exhausted'::text, 'passed'::text, 'staging'::text,
    'staged'::text, 'merging'::text, 'waiting'::text])),
  -- 2 (S), 1 (A), 0 (B) or -1 (C)
  constraint task_task_class_allowed check (task_class >= '-1'::integer and task_class <= 2),
  constraint task_task_id_allowed check (task_id >= 0),  -- 0 or more
  -- a unit of walltime, such as s, min, h, kSI2kseconds or sPerMB
  constraint task_walltime_unit_allowed check (walltime_unit ~
    '^(m?HS06s?(PerEvent)?(Fixed)?|m?(s|sec|seconds|min|minutes|h|hours|kS|kSI2k[a-z]*)(Per(Event|MB|File))?(Fixed)?)?$'::text),
  -- a unit of disk space: B, kB, MB, GB or TB, perhaps with PerEvent or Fixed behind
  constraint task_work_disk_unit_allowed check (work_disk_unit ~ '^([kKmMgGtT]?[bB](Per(Event|MB))?(Fixed)?)?$'::text)
);
create index task_due on workload.task (setup, status);

-- Jobs counted by task, ended ones among them; workload.job_change adds to them.
create table workload.task_count (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_id bigint not null,  -- Task.
  status text not null,  -- Status.
  jobs bigint not null,  -- Jobs.
  cores bigint not null,  -- Cores of them.
  constraint task_count_key unique (setup, task_id, status)
) with (fillfactor=50);

-- Input and output datasets of tasks; the first input is the primary one.
create table workload.task_dataset (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_id bigint not null,  -- Task.
  direction text not null check (direction = any (array['input'::text, 'output'::text])),  -- input or output.
  "position" integer not null check ("position" > -1e9 and "position" < 1e9),  -- Order, from 1.
  dataset text,  -- Dataset.
  token text,  -- Output: destination token, null = none.
  constraint task_dataset_pkey primary key (setup, task_id, direction, "position")
);
create index task_dataset_dataset on workload.task_dataset (setup, dataset);

-- How the jobs of a task ended at a queue lately.
create table workload.task_result (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  task_id bigint not null,  -- Task.
  queue text not null,  -- Queue.
  failed bigint default 0 check (failed > -1e15 and failed < 1e15),  -- Failed.
  closed bigint default 0 check (closed > -1e15 and closed < 1e15),  -- Closed, to be assigned elsewhere.
  finished bigint default 0 check (finished > -1e15 and finished < 1e15),  -- Finished.
  constraint task_result_pkey primary key (setup, task_id, queue),
  constraint task_result_closed_allowed check (closed >= 0),  -- 0 or more
  constraint task_result_failed_allowed check (failed >= 0),  -- 0 or more
  constraint task_result_finished_allowed check (finished >= 0)  -- 0 or more
);

-- Jobs that started per hour at a queue.
create table workload.to_running_rate (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue.
  gshare text not null,  -- Global share; empty = all.
  rate double precision check (rate > -1e15 and rate < 1e15),  -- Jobs per hour.
  constraint to_running_rate_pkey primary key (setup, queue, gshare),
  constraint to_running_rate_rate_allowed check (rate >= 0)  -- 0 or more
);

-- Which changes of a job's status there are; workload.change_status refuses all others.
create table workload.transition (
  from_status text,  -- Status before; null = the job is made, or loaded.
  to_status text not null,  -- Status after.
  constraint transition_key unique nulls not distinct (from_status, to_status)
);

-- Jobs that have not ended, counted by user; workload.job_change adds to them.
create table workload.user_count (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  user_name text,  -- User; null = none.
  working_group text,  -- Working group; null = none.
  queue text,  -- Unified queue; null = none yet.
  gshare text,  -- Global share; null = none.
  label text,  -- prodSourceLabel; null = none.
  processing_type text,  -- processingType; null = none.
  status text not null,  -- Status.
  jobs bigint not null,  -- Jobs.
  cores bigint not null,  -- Cores of them.
  constraint user_count_key unique nulls not distinct (setup, user_name, working_group, queue, gshare, label,
    processing_type, status)
) with (fillfactor=50);
create index user_count_group on workload.user_count (setup, working_group) where (working_group <> ''::text);

-- Jobs of users at queues by share; the user _total holds the totals where not every user is listed.
create table workload.user_queue_statistic (
  setup text not null references resource.setup(setup) on delete cascade,  -- Tenant: DIRAC's Setup, PanDA's vo.
  queue text not null,  -- Queue.
  gshare text not null,  -- Global share.
  user_name text not null,  -- User, or _total.
  queued bigint default 0 check (queued > -1e15 and queued < 1e15),  -- Queued jobs.
  running bigint default 0 check (running > -1e15 and running < 1e15),  -- Running jobs.
  -- Cores of the running jobs; null = one a job.
  running_cores bigint check (running_cores > -1e15 and running_cores < 1e15),
  constraint user_queue_statistic_pkey primary key (setup, queue, gshare, user_name),
  constraint user_queue_statistic_queued_allowed check (queued >= 0),  -- 0 or more
  constraint user_queue_statistic_running_allowed check (running >= 0)  -- 0 or more
);
