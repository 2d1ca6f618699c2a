-- The tables of the schema workload as release 0.1.0 has them; revisions change them. The comment of a CHECK constraint
-- states in words which values it allows: resource.refusal shows that text. All values of JEDI are allowed, even
-- negative walltimes (JEDI reads them as preset) and negative disk counts (as none).

create schema workload;
comment on schema workload is 'Tasks, datasets, replicas and jobs, their states, history and counts. Uses resource.';

--: Datasets.
create table workload.dataset (
  setup       text not null references resource.setup on delete cascade,
  dataset     text not null,  --: Name.
  type        text default 'input',  --: input, output, log, lib, pseudo_input, ...
  site        text,  --: Queues to which (merge) jobs of the dataset are pre-assigned, separated by commas.
  created     timestamptz,  --: When it was made.
  modified    timestamptz,  --: When the dataset was last changed.
  distributed boolean default false,  --: Whether the files are spread over several storages, none of which has all.
  --: Number of files of a pseudo dataset whose files are equal and have no rows; null = the rows of dataset_file.
  nfiles      bigint check (nfiles > -1e15 and nfiles < 1e15) constraint dataset_nfiles_allowed check (nfiles >= 0)
    constraint dataset_nfiles_of_pseudo_dataset
    check (nfiles is null or type is not null and type in ('pseudo_input', 'pp_input')),
  --: Events of each of these files.
  nevents     bigint check (nevents > -1e15 and nevents < 1e15) constraint dataset_nevents_allowed check (nevents >= 0),
  constraint dataset_events_allowed check (nfiles::numeric * nevents < 1e15),
  primary key (setup, dataset)
);
comment on constraint dataset_events_allowed on workload.dataset is 'fewer than 10^15 events in all files';
comment on constraint dataset_nfiles_of_pseudo_dataset on workload.dataset is
  'a number for a dataset whose type is pseudo_input or pp_input; other datasets name their files';

--: Files of datasets.
create table workload.dataset_file (
  setup       text not null references resource.setup on delete cascade,
  dataset     text not null,
  position    int not null check (position > -1e9 and position < 1e9),
  lfn         text,  --: Logical file name.
  --: Bytes.
  size        bigint default 0 check (size > -1e15 and size < 1e15)
    constraint dataset_file_size_allowed check (size >= 0),
  --: Events.
  nevents     bigint default 0 check (nevents > -1e15 and nevents < 1e15)
    constraint dataset_file_nevents_allowed check (nevents >= 0),
  start_event bigint check (start_event > -1e15 and start_event < 1e15),  --: First event.
  end_event   bigint check (end_event > -1e15 and end_event < 1e15),  --: Last event.
  primary key (setup, dataset, position)
);

--: Replicas of datasets. A replica is complete if found = total and total is not 0, or if found, total and lfns are all
--: null; an incomplete one has its lfns, or the first files of the dataset.
create table workload.replica (
  setup   text not null references resource.setup on delete cascade,
  dataset text not null,
  storage text not null,  --: Storage endpoint.
  --: Number of files in the replica; null = the number of lfns; without lfns all files, or 0 beside a total.
  found   bigint check (found > -1e15 and found < 1e15) constraint replica_found_allowed check (found >= 0),
  --: Number of files in the dataset; null = the number in this database.
  total   bigint check (total > -1e15 and total < 1e15) constraint replica_total_allowed check (total >= 0),
  --: Bytes of the replica; null = summed from the files.
  asize   bigint check (asize > -1e15 and asize < 1e15) constraint replica_asize_allowed check (asize >= 0),
  --: Bytes of the dataset; null = summed from the files.
  tsize   bigint check (tsize > -1e15 and tsize < 1e15) constraint replica_tsize_allowed check (tsize >= 0),
  vp      boolean default false,  --: Whether this is a virtual placement, whose files a cache may have.
  --: Names of the files of an incomplete replica; null = the first files of the dataset, as many as found.
  lfns    text[],
  primary key (setup, dataset, storage)
);
create index replica_storage on workload.replica (setup, storage);

--: Tasks; a row describes the chunk of the task that is to be brokered next. Names are JEDI's.
create table workload.task (
  setup                  text not null references resource.setup on delete cascade,
  task_id                bigint not null constraint task_task_id_allowed check (task_id >= 0),  --: JEDI task id.
  label                  text default 'managed',  --: prodSourceLabel: managed, user, test, ...
  gshare                 text default 'Reprocessing default',
  --: JEDI's status. Tasks in assigning are brokered to nuclei; the jobs of tasks in ready, scouting, running and
  --: pending are brokered to queues.
  status                 text default 'ready'
    constraint task_status_allowed check (status in ('registered', 'defined', 'assigning', 'ready', 'pending',
      'scouting', 'scouted', 'running', 'prepared', 'done', 'failed', 'finished', 'aborting', 'aborted', 'finishing',
      'topreprocess', 'preprocessing', 'tobroken', 'broken', 'toretry', 'toincexec', 'toreassign', 'rerefine',
      'paused', 'throttled', 'exhausted', 'passed', 'staging', 'staged', 'merging', 'waiting')),
  user_name              text,
  orig_user              text,  --: User before the name was cleaned.
  working_group          text,  --: Working group; null = none.
  processing_type        text default 'reprocessing',  --: Processing type: evgen, simul, reprocessing, urgent, ...
  --: Priority of the task.
  task_priority          int default 500 check (task_priority > -1e9 and task_priority < 1e9),
  --: Current priority; high from 800, express from 1000.
  current_priority       int default 500 check (current_priority > -1e9 and current_priority < 1e9),
  --: Cores of a job; 0 = any number, null = 1.
  core_count             int default 1 check (core_count > -1e9 and core_count < 1e9)
    constraint task_core_count_allowed check (core_count >= 0),
  --: Cores of a merge job; null = as core_count.
  merge_core_count       int check (merge_core_count > -1e9 and merge_core_count < 1e9)
    constraint task_merge_core_count_allowed check (merge_core_count >= 0),
  --: Maximum number of cores of a queue (split rule maxCoreCount).
  max_core_count         int check (max_core_count > -1e9 and max_core_count < 1e9)
    constraint task_max_core_count_allowed check (max_core_count >= 0),
  --: Memory (MB), see ram_unit; null or 0 = not known.
  ram_count              float8 default 2000 check (ram_count > -1e15 and ram_count < 1e15)
    constraint task_ram_count_allowed check (ram_count >= 0),
  --: MB, MBPerCore or MBPerCoreFixed.
  ram_unit               text default 'MBPerCore'
    constraint task_ram_unit_allowed check (ram_unit ~ '^(MB(PerCore)?(Fixed)?)?$'),
  --: Memory in addition to the part that grows with the cores (MB).
  base_ram_count         float8 default 0 check (base_ram_count > -1e15 and base_ram_count < 1e15)
    constraint task_base_ram_count_allowed check (base_ram_count >= 0),
  --: Memory of a merge job (MB).
  merge_ram_count        float8 check (merge_ram_count > -1e15 and merge_ram_count < 1e15)
    constraint task_merge_ram_count_allowed check (merge_ram_count >= 0),
  --: Memory that this chunk needs, if it is more than the task's (MB).
  chunk_ram_count        float8 check (chunk_ram_count > -1e15 and chunk_ram_count < 1e15)
    constraint task_chunk_ram_count_allowed check (chunk_ram_count >= 0),
  --: CPU time, see cpu_time_unit.
  cpu_time               float8 default 1 check (cpu_time > -1e15 and cpu_time < 1e15)
    constraint task_cpu_time_allowed check (cpu_time >= 0),
  --: Unit of cpu_time: HS06sPerEvent or mHS06sPerEvent (a thousandth); with any other unit walltime counts.
  cpu_time_unit          text default 'HS06sPerEvent'
    constraint task_cpu_time_unit_allowed check (cpu_time_unit ~ '^(m?HS06s?(PerEvents?)?(Fixed)?|'
        'm?(s|sec|seconds|min|minutes|h|hours|kS|kSI2k[a-z]*)(Per(Events?|MB|File))?(Fixed)?)?$'),
  --: Percent of the walltime that is CPU time; null counts 90.
  cpu_efficiency         float8 default 90 check (cpu_efficiency > -1e15 and cpu_efficiency < 1e15)
    constraint task_cpu_efficiency_allowed check (cpu_efficiency >= 0),
  --: Walltime in addition to that of the events (s).
  base_walltime          float8 default 0 check (base_walltime > -1e15 and base_walltime < 1e15)
    constraint task_base_walltime_allowed check (base_walltime >= 0),
  --: Walltime (s per MB of input), if cpu_time_unit is not HS06.
  walltime               float8 check (walltime > -1e15 and walltime < 1e15),
  --: Unit of walltime; null = walltime is not known.
  walltime_unit          text
    constraint task_walltime_unit_allowed check (walltime_unit ~ '^(m?HS06s?(PerEvents?)?(Fixed)?|'
        'm?(s|sec|seconds|min|minutes|h|hours|kS|kSI2k[a-z]*)(Per(Events?|MB|File))?(Fixed)?)?$'),
  --: Output, see out_disk_unit.
  out_disk_count         float8 default 0 check (out_disk_count > -1e15 and out_disk_count < 1e15),
  --: Unit of the output: B, kB, MB or GB; with PerEvent it counts for each event, else for each MB of input.
  out_disk_unit          text default 'kB'
    constraint task_out_disk_unit_allowed check (out_disk_unit ~ '^([kKmMgGtT]?[bB](Per(Events?|MB))?(Fixed)?)?$'),
  --: Scratch in addition to input and output, see work_disk_unit; null = none.
  work_disk_count        float8 check (work_disk_count > -1e15 and work_disk_count < 1e15),
  --: B, kB, MB or GB.
  work_disk_unit         text default 'MB'
    constraint task_work_disk_unit_allowed check (work_disk_unit ~ '^([kKmMgGtT]?[bB](Per(Events?|MB))?(Fixed)?)?$'),
  --: Input and output per second (kB/s).
  io_intensity           float8 check (io_intensity > -1e15 and io_intensity < 1e15)
    constraint task_io_intensity_allowed check (io_intensity >= 0),
  --: Disk IO per second (kB/s).
  disk_io                float8 check (disk_io > -1e15 and disk_io < 1e15)
    constraint task_disk_io_allowed check (disk_io >= 0),
  architecture           text,  --: sw_platform<@base_platform><#host_cpu_spec><&host_gpu_spec>, or JSON.
  trans_home             text,  --: Release: AtlasOffline-21.0.38, Athena-22.0.1, ...
  trans_uses             text,  --: Base release of user jobs.
  container_name         text,  --: Container; null = none.
  only_tags_for_fc       boolean default false,  --: Whether the container must be one of the published tags.
  nucleus                text,  --: Nucleus at which outputs are gathered; null = not yet brokered.
  cloud                  text,
  site                   text,  --: Pre-assigned queues, separated by commas.
  parent                 bigint,  --: Task whose output is the input.
  resource_type          text default 'SCORE',
  --: 0 = none, 1 or 2 = event service.
  event_service          smallint default 0 constraint task_event_service_allowed check (event_service >= 0),
  frozen                 timestamptz,  --: Time since which the task has made no progress.
  --: Class of the analysis task: 2 S, 1 A, 0 B, -1 C; null = not evaluated.
  task_class             smallint constraint task_task_class_allowed check (task_class between -1 and 2),
  is_merging             boolean default false,  --: Whether the chunk makes merge jobs.
  use_scout              boolean default false,  --: Whether the chunk makes scout jobs.
  --: Weight of the nucleus; a negative weight means only queues of the nucleus.
  t1_weight              float8 check (t1_weight > -1e15 and t1_weight < 1e15),
  --: Outbound network that jobs need: 1 full, 2 http, 3 none; null = not given.
  ip_connectivity        smallint constraint task_ip_connectivity_allowed check (ip_connectivity in (1, 2, 3)),
  --: IP stack that jobs need: 4 or 6; null = not given.
  ip_stack               smallint constraint task_ip_stack_allowed check (ip_stack in (4, 6)),
  --: Direct access to input: 1 use, 2 only; null = copy.
  allow_input_lan        smallint constraint task_allow_input_lan_allowed check (allow_input_lan in (1, 2)),
  --: Direct access to remote input: 1 use, 2 only.
  allow_input_wan        smallint constraint task_allow_input_wan_allowed check (allow_input_wan in (1, 2)),
  use_local_io           boolean default false,  --: Whether input is copied, whatever the value of allow_input_lan is.
  input_pre_staging      boolean default false,  --: Whether input is staged while the task runs (data carousel).
  merge_output           boolean default false,  --: Whether outputs are merged (pre-merged jobs).
  --: Full chain: 1 only, 2 require, 3 capable.
  full_chain             smallint constraint task_full_chain_allowed check (full_chain in (1, 2, 3)),
  --: Split rule limitedSites: 1 allow list, 2 deny list, 3 both. In panda2026, included_site and excluded_site count
  --: with any of these values, and not with null.
  limited_sites          smallint constraint task_limited_sites_allowed check (limited_sites in (1, 2, 3)),
  avoid_vp               boolean default false,  --: Whether the task avoids queues of virtual placement.
  --: Split rule useScout: 1 no scouting, 2 scouting wanted, 3 done. The column use_scout says whether the chunk makes
  --: scouts.
  scouting               smallint constraint task_scouting_allowed check (scouting in (1, 2, 3)),
  --: Number of files per job; null = the other split rules decide, and without them 1.
  n_files_per_job        bigint check (n_files_per_job > -1e15 and n_files_per_job < 1e15)
    constraint task_n_files_per_job_allowed check (n_files_per_job >= 1),
  --: Number of files per merge job; null counts as 1.
  n_files_per_merge_job  bigint check (n_files_per_merge_job > -1e15 and n_files_per_merge_job < 1e15)
    constraint task_n_files_per_merge_job_allowed check (n_files_per_merge_job >= 1),
  --: Events per job; with nFilesPerJob, the events of a cut: a job is nFilesPerJob cuts.
  n_events_per_job       bigint check (n_events_per_job > -1e15 and n_events_per_job < 1e15)
    constraint task_n_events_per_job_allowed check (n_events_per_job >= 1),
  --: Events that a job shall have, in equal cuts of each file (tgtNumEventsPerJob).
  tgt_num_events_per_job bigint check (tgt_num_events_per_job > -1e15 and tgt_num_events_per_job < 1e15)
    constraint task_tgt_num_events_per_job_allowed check (tgt_num_events_per_job >= 1),
  --: Most files per job, where neither files nor events per job are given; null with nGBPerJob counts as 200.
  n_max_files_per_job    bigint check (n_max_files_per_job > -1e15 and n_max_files_per_job < 1e15)
    constraint task_n_max_files_per_job_allowed check (n_max_files_per_job >= 1),
  --: Most input per job (GiB), where neither files nor events per job are given; null or 0 = no limit.
  n_gb_per_job           float8 check (n_gb_per_job > -1e15 and n_gb_per_job < 1e15)
    constraint task_n_gb_per_job_allowed check (n_gb_per_job >= 0),
  --: Dynamic number of events: events of the smallest job.
  dynamic_num_events     bigint check (dynamic_num_events > -1e15 and dynamic_num_events < 1e15)
    constraint task_dynamic_num_events_allowed check (dynamic_num_events >= 0),
  --: Maximum number of events per job, with the dynamic number of events.
  max_events_per_job     bigint check (max_events_per_job > -1e15 and max_events_per_job < 1e15)
    constraint task_max_events_per_job_allowed check (max_events_per_job >= 1),
  --: Jobs that work on the same events, for the event service; null counts as 1.
  n_es_consumers         bigint check (n_es_consumers > -1e15 and n_es_consumers < 1e15)
    constraint task_n_es_consumers_allowed check (n_es_consumers >= 1),
  --: Attempts of an event, for the event service.
  max_attempt_es         bigint check (max_attempt_es > -1e15 and max_attempt_es < 1e15)
    constraint task_max_attempt_es_allowed check (max_attempt_es >= 0),
  --: Retries of a job of the event service; null = max_attempt_es.
  max_attempt_es_job     bigint check (max_attempt_es_job > -1e15 and max_attempt_es_job < 1e15)
    constraint task_max_attempt_es_job_allowed check (max_attempt_es_job >= 0),
  --: JEDI's maxAttempt: the failure of a part of the input after which no retry rule tries the part again; null = only
  --: the setting most_retries counts.
  max_attempt            int check (max_attempt > -1e9 and max_attempt < 1e9)
    constraint task_max_attempt_allowed check (max_attempt between 1 and 1000),
  allow_incomplete_in_ds boolean default false,  --: Whether incomplete input datasets are allowed.
  --: Jumbo jobs.
  n_jumbo_jobs           bigint check (n_jumbo_jobs > -1e15 and n_jumbo_jobs < 1e15)
    constraint task_n_jumbo_jobs_allowed check (n_jumbo_jobs >= 0),
  hpo_workflow           boolean default false,  --: Hyperparameter optimisation.
  included_site          text[],  --: Queues to use, names or patterns with *; null = all.
  excluded_site          text[],  --: Queues not to use, names or patterns with *.
  task_broker_on_master  boolean default false,  --: Whether only the first input dataset counts in task brokerage.
  sites_used             text[] default '{}',  --: Queues to which jobs of the task have gone.
  resource_types_at      jsonb default '{}',  --: Resource types of the task's jobs by queue.
  task_classified        timestamptz,  --: When task_class was set; null = it does not expire.
  --: The split rules by which the input was cut when the first job was assigned (workload.cutting); null = no job yet.
  cutting                jsonb constraint task_cutting_allowed check (jsonb_typeof(cutting) = 'object'
    and cutting ?| '{files,target,bytes}'::text[] and (cutting ? 'files' or not cutting ? 'events')
    and cutting - '{files,most_files,events,target,bytes,output_per_event,output_per_mb,work,less}'::text[] = '{}'
    and not jsonb_path_exists(cutting - 'less', '$.* ? (@.type() != "number" || @ < 0 || @ >= 1e30)')
    and not jsonb_path_exists(cutting - '{bytes,output_per_event,output_per_mb,work,less}'::text[],
                              '$.* ? (@ < 1 || @ >= 1e15 || @ != @.floor())')
    and (not cutting ? 'less' or jsonb_typeof(cutting -> 'less') = 'array' and not cutting ?| '{events,target}'::text[]
         and not jsonb_path_exists(cutting, '$.less[*] ? (@.type() != "object" || !(exists (@.file)))')
         and not jsonb_path_exists(cutting, '$.less[*].* ? (@.type() != "number" || @ < 0 || @ >= 1e30)')
         and not jsonb_path_exists(cutting, '$.less[*].file ? (@ < 2 || @ >= 1e15 || @ != @.floor())')
         and not jsonb_path_exists(cutting, '$.less[*].files ? (@ < 1 || @ >= 1e15 || @ != @.floor())')
         and not jsonb_path_exists(cutting, '$.less[*].most_files ? (@ < 1 || @ >= 1e15 || @ != @.floor())'))),
  primary key (setup, task_id)
);
create index task_due on workload.task (setup, status);
comment on constraint task_status_allowed on workload.task is
  'a status of JEDI''s: registered, defined, assigning, ready, pending, scouting, scouted, running, prepared, '
  'done, failed, finished, aborting, aborted, finishing, topreprocess, preprocessing, tobroken, broken, toretry, '
  'toincexec, toreassign, rerefine, paused, throttled, exhausted, passed, staging, staged, merging, waiting';
comment on constraint task_ram_unit_allowed on workload.task is 'MB, MBPerCore or MBPerCoreFixed';
comment on constraint task_cpu_time_unit_allowed on workload.task is
  'HS06sPerEvent, mHS06sPerEvent (a thousandth), these with Fixed behind, or a unit of walltime such as '
  'kSI2kseconds';
comment on constraint task_walltime_unit_allowed on workload.task is
  'a unit of walltime, such as s, min, h, kSI2kseconds or sPerMB';
comment on constraint task_out_disk_unit_allowed on workload.task is
  'a unit of disk space: B, kB, MB, GB or TB, perhaps with PerEvent or Fixed behind';
comment on constraint task_work_disk_unit_allowed on workload.task is
  'a unit of disk space: B, kB, MB, GB or TB, perhaps with PerEvent or Fixed behind';
comment on constraint task_task_class_allowed on workload.task is '2 (S), 1 (A), 0 (B) or -1 (C)';
comment on constraint task_max_attempt_allowed on workload.task is 'within 1 and 1000';
comment on constraint task_ip_connectivity_allowed on workload.task is '1 (full), 2 (http) or 3 (none)';
comment on constraint task_ip_stack_allowed on workload.task is '4 (IPv4) or 6 (IPv6)';
comment on constraint task_allow_input_lan_allowed on workload.task is '1 (use) or 2 (only)';
comment on constraint task_allow_input_wan_allowed on workload.task is '1 (use) or 2 (only)';
comment on constraint task_full_chain_allowed on workload.task is '1 (only), 2 (require) or 3 (capable)';
comment on constraint task_scouting_allowed on workload.task is '1 (scouting) or 2 (done)';
comment on constraint task_cutting_allowed on workload.task is
  'an object as broker dump writes it: files, most_files, events, target, bytes, output_per_event, output_per_mb, '
  'work, less';

--: The split rules of a task that decide which files and events a job reads (conventions.md, Job size).
create type workload.cutting as (
  files bigint,  --: Files of a job, or cuts of events; null = no such number.
  most_files bigint,  --: Most files of a job.
  events bigint,  --: Events of a cut of the events of all files in a row.
  target bigint,  --: Events of a job that is made of equal cuts of each file.
  bytes numeric,  --: Most bytes of a job.
  output_per_event float8,  --: Bytes of output for each event that count among them.
  output_per_mb float8,  --: Bytes of output for each MB of the primary dataset that count among them.
  work float8,  --: Bytes of work space of a job that count among them.
  --: Lowered limits for the files from a place on: [{"file": place, "files", "most_files", "bytes"}]; null = none.
  less jsonb
);

--: Files of the primary dataset that follow each other and are equal.
create type workload.file_group as (
  files bigint,  --: Number of files.
  events bigint,  --: Events of each; 0 = not known.
  mb float8,  --: MB of each; a file of size 0 counts as 1.
  bytes bigint,  --: Bytes of each.
  side bigint  --: Bytes of the files of all other datasets at the same place.
);

--: A run of equal jobs (workload.input_run), with the largest of them.
create type workload.cut_run as (
  number bigint,  --: Number of the first job of the run, from 1.
  jobs bigint,  --: Number of jobs of the run.
  first_file bigint,  --: Place of the primary file with which the run begins, from 1.
  first_event bigint,  --: Events of that file that earlier jobs have.
  files bigint,  --: Primary files of each job.
  events bigint,  --: Events of each job; null = all events of its files.
  file_events bigint,  --: Events of each of the equal files that are cut; null = the files of a job are whole.
  cuts bigint,  --: Number of cuts of each of these files; null = cuts continue in the next file.
  most_events bigint,  --: Events of the largest job.
  most_mb float8,  --: MB of the primary files of the largest job.
  most_bytes bigint  --: Bytes of all files of the largest job.
);

--: Files and events of one job.
create type workload.part as (
  number bigint,  --: Number of the job in its task, from 1.
  first_file bigint,  --: Place of the first primary file, from 1.
  last_file bigint,  --: Place of the last primary file.
  first_event bigint,  --: Events of the first file that an earlier job has.
  events bigint  --: Events of the job; null = all events of its files.
);

--: Input and output datasets of tasks; the first input is the primary one.
create table workload.task_dataset (
  setup     text not null references resource.setup on delete cascade,
  task_id   bigint not null,
  direction text not null check (direction in ('input', 'output')),  --: input or output.
  position  int not null check (position > -1e9 and position < 1e9),
  dataset   text,
  token     text,  --: Output: destination token, null = none.
  primary key (setup, task_id, direction, position)
);
create index task_dataset_dataset on workload.task_dataset (setup, dataset);

--: Sums of a task's input, as brokerage reads them. workload.digest_input derives them from the datasets.
create table workload.input_digest (
  setup           text not null references resource.setup on delete cascade,
  task_id         bigint not null,
  files           bigint,  --: Files of the datasets that are not pseudo, each name once.
  size            bigint,  --: Bytes of these files.
  shared_files    boolean,  --: Whether a file name is in two datasets of the task.
  primary_files   bigint,  --: Files of the primary dataset.
  jobs            bigint,  --: Jobs that the split rules make of the primary dataset (conventions.md, Job size).
  job_events      bigint,  --: Events of the largest job.
  job_input_mb    float8,  --: Input of the largest job from the primary dataset (MB); a file of size 0 counts as 1.
  job_input_bytes bigint,  --: Input of the largest job from all datasets (bytes).
  events          bigint,  --: Events of the primary dataset.
  jobs_by_output            bigint,  --: As jobs, where nGBPerJob counts output and work space; null = as jobs.
  job_events_by_output      bigint,  --: As job_events, where they count.
  job_input_mb_by_output    float8,  --: As job_input_mb, where they count.
  job_input_bytes_by_output bigint,  --: As job_input_bytes, where they count.
  primary key (setup, task_id)
);

--: The jobs that the split rules make of a task's input, as runs of equal jobs (workload.digest_input).
create table workload.input_run (
  setup       text not null references resource.setup on delete cascade,
  task_id     bigint not null,
  by_output   boolean not null,  --: Whether nGBPerJob counts output and work space, too.
  number      bigint not null,  --: Number of the first job of the run, from 1.
  jobs        bigint not null,  --: Number of jobs of the run.
  first_file  bigint not null,  --: Place of the primary file with which the run begins, from 1.
  first_event bigint not null,  --: Events of that file that earlier jobs have.
  files       bigint,  --: Primary files of each job; null = the events of equal files are cut.
  events      bigint,  --: Events of each job; null = all events of its files.
  file_events bigint,  --: Events of each of the equal files.
  cuts        bigint,  --: Number of cuts of each of the equal files; null = cuts continue in the next file.
  primary key (setup, task_id, by_output, number)
);
create index input_run_file on workload.input_run (setup, task_id, first_file, first_event) where not by_output;

--: Numbers of a task's jobs that ended recently at a queue, counted elsewhere.
create table workload.task_result (
  setup    text not null references resource.setup on delete cascade,
  task_id  bigint not null,
  queue    text not null,
  --: Number of failed jobs.
  failed   bigint default 0 check (failed > -1e15 and failed < 1e15)
    constraint task_result_failed_allowed check (failed >= 0),
  --: Number of jobs closed to be assigned elsewhere.
  closed   bigint default 0 check (closed > -1e15 and closed < 1e15)
    constraint task_result_closed_allowed check (closed >= 0),
  --: Number of finished jobs.
  finished bigint default 0 check (finished > -1e15 and finished < 1e15)
    constraint task_result_finished_allowed check (finished >= 0),
  primary key (setup, task_id, queue)
);

--: Counts of jobs that are kept elsewhere; workload.job_statistic adds them to the counts of workload.job.
create table workload.statistic (
  setup         text not null references resource.setup on delete cascade,
  number        bigint not null generated always as identity,  --: Number of the row.
  queue         text,  --: Unified queue.
  gshare        text,
  resource_type text,
  nucleus       text,  --: Nucleus to which outputs go.
  label         text,
  --: Status of the jobs.
  status        text
    constraint statistic_status_allowed check (status in ('pending', 'defined', 'waiting', 'assigned', 'activated',
      'throttled', 'sent', 'starting', 'running', 'holding', 'merging', 'transferring', 'finished', 'failed',
      'cancelled', 'closed')),
  --: Jobs.
  njobs         bigint default 0 check (njobs > -1e15 and njobs < 1e15)
    constraint statistic_njobs_allowed check (njobs >= 0),
  --: Cores.
  ncores        bigint check (ncores > -1e15 and ncores < 1e15)
    constraint statistic_ncores_allowed check (ncores >= 0),
  --: Mean diskIO of running jobs (kB/s per core).
  diskio        float8 check (diskio > -1e15 and diskio < 1e15)
    constraint statistic_diskio_allowed check (diskio >= 0),
  primary key (setup, number)
);
create index statistic_queue on workload.statistic (setup, queue);
comment on constraint statistic_status_allowed on workload.statistic is
  'a status of jobs: pending, defined, waiting, assigned, activated, throttled, sent, starting, running, holding, '
  'merging, transferring, finished, failed, cancelled, closed';

-- The table has few indexes, since each costs time at every change of a job. A change of status touches an index only
-- when the job starts, ends or goes back to its task, so that most changes are heap-only. Columns that calls write have
-- no CHECK, since PostgreSQL reads each constraint again for each statement (20 us); workload.refuse_jobs checks jobs
-- that are loaded. There is no foreign key to the setup, since it would cost 5 us for each job that is made. Functions
-- that make or load jobs lock the setup, and workload.remove_setup deletes the jobs.
--: Jobs.
create table workload.job (
  setup           text not null,
  job_id          bigint not null,  --: PanDA id.
  task_id         bigint,  --: Task; null = none.
  queue           text,  --: Unified queue; null = not brokered.
  status          text,  --: PanDA's status: defined, assigned, activated, starting, running, ...
  sub_status      text,  --: Detail of the status.
  priority        int,  --: Current priority.
  gshare          text,
  label           text,
  user_name       text,
  working_group   text,
  resource_type   text,
  cores           int,  --: Cores.
  created         timestamptz,  --: When it was made.
  --: When the job last changed or, if no JobAgent of this database has it, when it was last reported on.
  modified        timestamptz,
  state_changed   timestamptz,  --: When its status changed.
  started         timestamptz,  --: When it started.
  ended           timestamptz,  --: When it ended.
  workflow        text,  --: Workflow.
  relocation_flag smallint,  --: PanDA's relocationFlag.
  activated       timestamptz,  --: When the job began to wait for a worker node; null = when it was created.
  processing_type text,  --: processingType; pmerge is a merge job; null = the same as that of its task.
  nucleus         text,  --: Nucleus of its task when the job was made; null = none.
  --: Number of the part of its task's input that the job works on, from 1; null = not made here.
  number          bigint,
  --: 0 = the job owns its part of the input; n = the job is the n-th of its part whose work went back to the task.
  rebrokered      int not null default 0,
  previous_queues text[],  --: Queues that had its part of the input before, oldest first; null = none.
  disk_io         float8,  --: diskIO of its task (kB/s per core); null = not known.
  input_files     bigint,  --: Number of files that the job reads; null = not made here.
  input_bytes     bigint,  --: Bytes of these files; null = not made here.
  events          bigint,  --: Events of its part of the primary input; null = not made here.
  --: When a retry rule gives the part of a failed job back to its task; null = no rule does, or the part went back.
  retry_at        timestamptz,
  primary key (setup, job_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create unique index job_task on workload.job (setup, task_id, number, rebrokered);
comment on index workload.job_task is 'At most one job at a time works on a part of a task''s input.';
create index job_active on workload.job (setup, task_id, queue) where ended is null;
create index job_retry_at on workload.job (setup, retry_at) where retry_at is not null;
create index job_analysis on workload.job (setup, started) where gshare = 'User Analysis';

--: Parts of the input of tasks of which a job failed while the setup had retry rules. The changes of retry rules stay
--: with the part for all its later jobs.
create table workload.failed_part (
  setup         text not null,
  task_id       bigint not null,  --: Task.
  number        bigint not null constraint failed_part_number_allowed check (number >= 1),  --: Number of the part.
  --: Failed ends of its jobs since an operator last gave the part back.
  failures      smallint not null default 0 constraint failed_part_failures_allowed check (failures >= 0),
  --: Factor of the memory of its next jobs: the product of the factors of the retry rules.
  memory_factor numeric not null default 1
    constraint failed_part_memory_factor_allowed check (memory_factor between 1 and 1e6),
  --: Factor of the CPU time of its next jobs, likewise.
  time_factor   numeric not null default 1
    constraint failed_part_time_factor_allowed check (time_factor between 1 and 1e6),
  --: Queues that its next job avoids: the last five at which it failed by a rule with elsewhere: site; null = none.
  failed_queues text[] constraint failed_part_failed_queues_allowed check (cardinality(failed_queues) <= 5),
  --: Whether a retry rule asks for smaller parts, and the watchdog has not lowered the limits of the task yet.
  less_input    boolean not null default false,
  primary key (setup, task_id, number)
);
create index failed_part_less_input on workload.failed_part (setup, task_id) where less_input;
comment on constraint failed_part_memory_factor_allowed on workload.failed_part is 'a factor from 1 to 1,000,000';
comment on constraint failed_part_time_factor_allowed on workload.failed_part is 'a factor from 1 to 1,000,000';
comment on constraint failed_part_failed_queues_allowed on workload.failed_part is 'at most five queues';

--: Jobs of users at queues by share; the user _total has the sum over all users if not every user is listed.
create table workload.user_queue_statistic (
  setup         text not null references resource.setup on delete cascade,
  queue         text not null,
  gshare        text not null,
  user_name     text not null,  --: User, or _total.
  --: Queued jobs.
  queued        bigint default 0 check (queued > -1e15 and queued < 1e15)
    constraint user_queue_statistic_queued_allowed check (queued >= 0),
  --: Running jobs.
  running       bigint default 0 check (running > -1e15 and running < 1e15)
    constraint user_queue_statistic_running_allowed check (running >= 0),
  --: Cores of the running jobs; null = one core per job.
  running_cores bigint check (running_cores > -1e15 and running_cores < 1e15),
  primary key (setup, queue, gshare, user_name)
);

--: Number of jobs that started per hour at a queue.
create table workload.to_running_rate (
  setup  text not null references resource.setup on delete cascade,
  queue  text not null,
  gshare text not null,  --: Global share; empty = all.
  --: Jobs per hour.
  rate   float8 check (rate > -1e15 and rate < 1e15) constraint to_running_rate_rate_allowed check (rate >= 0),
  primary key (setup, queue, gshare)
);

--: Work that is left at a nucleus (HS06 s).
create table workload.remaining_work (
  setup    text not null references resource.setup on delete cascade,
  nucleus  text not null,
  gshare   text not null,  --: Global share; empty = the whole work of the nucleus.
  priority int not null check (priority > -1e9 and priority < 1e9),  --: Priority of the tasks; 0 with the whole work.
  --: Work (HS06 s).
  work     float8 check (work > -1e15 and work < 1e15) constraint remaining_work_work_allowed check (work >= 0),
  primary key (setup, nucleus, gshare, priority)
);

create sequence workload.job_id start 1000000000000;
comment on sequence workload.job_id is 'Ids of jobs made here, from 10^12 on; ids that submitters give are below.';

--: The possible changes of a job's status; workload.change_status refuses all others.
create table workload.transition (
  from_status text,  --: Status before; null = the job is made, or loaded.
  to_status   text not null,  --: Status after.
  constraint transition_key unique nulls not distinct (from_status, to_status)
);
insert into workload.transition (from_status, to_status) values
  (null, 'pending'), (null, 'throttled'), (null, 'defined'), (null, 'assigned'), (null, 'activated'), (null, 'sent'),
  (null, 'starting'), (null, 'running'), (null, 'holding'), (null, 'transferring'), (null, 'finished'), (null,
  'failed'), (null, 'cancelled'), (null, 'closed'),
  ('pending', 'throttled'), ('pending', 'defined'), ('pending', 'closed'), ('pending', 'failed'), ('pending',
  'cancelled'),
  ('throttled', 'defined'), ('throttled', 'closed'), ('throttled', 'failed'), ('throttled', 'cancelled'),
  ('defined', 'assigned'), ('defined', 'throttled'), ('defined', 'closed'), ('defined', 'failed'), ('defined',
  'cancelled'),
  ('assigned', 'activated'), ('assigned', 'closed'), ('assigned', 'failed'), ('assigned', 'cancelled'),
  ('activated', 'sent'), ('activated', 'closed'), ('activated', 'failed'), ('activated', 'cancelled'),
  ('sent', 'starting'), ('sent', 'running'), ('sent', 'activated'), ('sent', 'closed'), ('sent', 'failed'), ('sent',
  'cancelled'),
  ('starting', 'running'), ('starting', 'activated'), ('starting', 'closed'), ('starting', 'failed'), ('starting',
  'cancelled'),
  ('running', 'holding'), ('running', 'transferring'), ('running', 'finished'), ('running', 'activated'), ('running',
  'closed'), ('running', 'failed'), ('running', 'cancelled'),
  ('holding', 'transferring'), ('holding', 'finished'), ('holding', 'activated'), ('holding', 'closed'), ('holding',
  'failed'), ('holding', 'cancelled'),
  ('transferring', 'holding'), ('transferring', 'finished'), ('transferring', 'activated'), ('transferring',
  'closed'), ('transferring', 'failed'), ('transferring', 'cancelled');

create sequence workload.job_history_number;
comment on sequence workload.job_history_number is 'Order of the history of jobs.';

--: Every change of a job's status.
create table workload.job_history (
  setup       text not null,
  at          timestamptz not null,
  number      bigint not null default nextval('workload.job_history_number'),  --: Order of changes at the same time.
  job_id      bigint not null,  --: Job.
  from_status text,  --: Status before; null = the job was made.
  to_status   text not null,  --: Status after.
  role_name   text not null,  --: Database role of the caller.
  why         text  --: Reason: the function that was called, or the rule that applied.
) partition by range (at);
create table workload.job_history_default partition of workload.job_history default;
create index job_history_job on workload.job_history (setup, job_id, at);

--: Payloads: the data that an agent needs to run a job, such as a script, a command, parameters. Only the agent that
--: has the job and the owner of the job can read its payload, which is deleted together with the ended job.
create table workload.payload (
  setup  text not null,
  job_id bigint not null,  --: Job.
  body   jsonb not null,  --: The payload in the form in which it was inserted.
  primary key (setup, job_id)
);
alter table workload.payload alter column setup set (n_distinct = 1);

--: Payloads of tasks, each stored once for all jobs of a task. Only the agents that have its jobs and the owner of the
--: task can read the payload, which is deleted with the task.
create table workload.task_payload (
  setup   text not null,
  task_id bigint not null,  --: JEDI task id.
  --: Data that an agent needs to run a job of the task that has no payload of its own; any JSON value.
  body    jsonb not null constraint task_payload_body_allowed check (octet_length(body::text) <= 16777216),
  primary key (setup, task_id),
  foreign key (setup, task_id) references workload.task on delete cascade
);
comment on constraint task_payload_body_allowed on workload.task_payload is 'a payload of at most 16 MiB';

--: Changes of status that are not yet in the counts (queue_count, user_count, task_count, start_count, end_count); a
--: row is a change or a group of equal changes.
create table workload.job_change (
  setup           text not null,
  at              timestamptz not null,
  jobs            bigint not null,  --: Number of jobs that changed.
  from_status     text,  --: Status before; null = the job was made.
  to_status       text,  --: Status after; null = the job was deleted.
  task_id         bigint,  --: Task; null = none.
  queue           text,  --: Unified queue; null = none yet.
  gshare          text,  --: Global share; null = none.
  resource_type   text,  --: Resource type; null = none.
  nucleus         text,  --: Nucleus to which outputs go; null = none.
  label           text,  --: prodSourceLabel; null = none.
  user_name       text,  --: User; null = none.
  working_group   text,  --: Working group; null = none.
  processing_type text,  --: processingType; null = none.
  cores           bigint not null,  --: Cores of these jobs.
  disk_io         numeric,  --: Sum of the diskIO of these jobs; null = no job has a value.
  disk_io_jobs    bigint not null  --: Number of these jobs that have a diskIO.
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

--: Jobs that have not ended, by the columns that brokerage reads; changes in workload.job_change are to be added.
create table workload.queue_count (
  setup         text not null,
  queue         text,  --: Unified queue; null = none yet.
  gshare        text,  --: Global share; null = none.
  resource_type text,  --: Resource type; null = none.
  nucleus       text,  --: Nucleus to which outputs go; null = none.
  label         text,  --: prodSourceLabel; null = none.
  status        text not null,
  jobs          bigint not null,
  cores         bigint not null,  --: Cores of these jobs.
  disk_io       numeric not null,  --: Sum of the diskIO of the jobs that have one.
  disk_io_jobs  bigint not null,  --: Number of jobs that have a diskIO.
  constraint queue_count_key unique nulls not distinct (setup, queue, gshare, resource_type, nucleus, label, status)
) with (fillfactor = 50);

--: Jobs that have not ended, counted by user; changes in workload.job_change are to be added.
create table workload.user_count (
  setup           text not null,
  user_name       text,  --: User; null = none.
  working_group   text,  --: Working group; null = none.
  queue           text,  --: Unified queue; null = none yet.
  gshare          text,  --: Global share; null = none.
  label           text,  --: prodSourceLabel; null = none.
  processing_type text,  --: processingType; null = none.
  status          text not null,
  jobs            bigint not null,
  cores           bigint not null,  --: Cores of these jobs.
  constraint user_count_key unique nulls not distinct (setup, user_name, working_group, queue, gshare, label,
    processing_type, status)
) with (fillfactor = 50);
create index user_count_group on workload.user_count (setup, working_group) where working_group <> '';

--: Jobs counted by task, including ended jobs; changes in workload.job_change are to be added.
create table workload.task_count (
  setup   text not null,
  task_id bigint not null,
  status  text not null,
  jobs    bigint not null,
  cores   bigint not null,  --: Cores of these jobs.
  constraint task_count_key unique (setup, task_id, status)
) with (fillfactor = 50);

--: Jobs that began to run, counted by minute; changes in workload.job_change are to be added.
create table workload.start_count (
  setup         text not null,
  queue         text,  --: Unified queue; null = none yet.
  gshare        text,  --: Global share; null = none.
  resource_type text,  --: Resource type; null = none.
  minute        timestamptz not null,  --: Beginning of the minute.
  jobs          bigint not null,
  last_at       timestamptz not null,  --: Time of the last start.
  constraint start_count_key unique nulls not distinct (setup, queue, gshare, resource_type, minute)
);
create index start_count_last on workload.start_count (setup, queue, last_at);

--: Jobs that ended, counted by task, queue and minute; changes in workload.job_change are to be added.
create table workload.end_count (
  setup   text not null,
  task_id bigint not null,
  queue   text,  --: Unified queue; null = none yet.
  status  text not null,  --: finished, failed, cancelled or closed.
  minute  timestamptz not null,  --: Beginning of the minute.
  jobs    bigint not null,
  constraint end_count_key unique nulls not distinct (setup, task_id, queue, status, minute)
);
