-- The tables of the schema workload. Edited in place until the first release; afterwards revisions change them.
-- A CHECK constraint's comment states in words what the constraint allows: resource.refusal shows that text.
-- What JEDI may hold is allowed: negative walltimes and disk counts (JEDI reads them as preset and as none).

create schema workload;
comment on schema workload is 'Tasks, datasets, replicas and jobs, their states, history and counts. Uses resource.';

create table workload.dataset (
  setup       text not null references resource.setup on delete cascade,
  dataset     text not null,
  type        text default 'input',
  site        text,
  created     timestamptz,
  modified    timestamptz,
  distributed boolean default false,
  primary key (setup, dataset)
);
comment on table workload.dataset is 'Datasets.';
comment on column workload.dataset.dataset is 'Name.';
comment on column workload.dataset.type is 'input, output, log, lib, pseudo_input, ...';
comment on column workload.dataset.site is
  'Queues that jobs of it are pre-assigned to, separated by commas (merging).';
comment on column workload.dataset.created is 'When it was made.';
comment on column workload.dataset.modified is 'When it was last changed.';
comment on column workload.dataset.distributed is 'Its files are at many places, none has all.';

create table workload.dataset_file (
  setup       text not null references resource.setup on delete cascade,
  dataset     text not null,
  position    int not null check (position > -1e9 and position < 1e9),
  lfn         text,
  size        bigint default 0 check (size > -1e15 and size < 1e15)
    constraint dataset_file_size_allowed check (size >= 0),
  nevents     bigint default 0 check (nevents > -1e15 and nevents < 1e15)
    constraint dataset_file_nevents_allowed check (nevents >= 0),
  start_event bigint check (start_event > -1e15 and start_event < 1e15),
  end_event   bigint check (end_event > -1e15 and end_event < 1e15),
  primary key (setup, dataset, position)
);
comment on table workload.dataset_file is 'Files of datasets.';
comment on column workload.dataset_file.lfn is 'Logical file name.';
comment on column workload.dataset_file.size is 'Bytes.';
comment on column workload.dataset_file.nevents is 'Events.';
comment on column workload.dataset_file.start_event is 'First event.';
comment on column workload.dataset_file.end_event is 'Last event.';

create table workload.replica (
  setup   text not null references resource.setup on delete cascade,
  dataset text not null,
  storage text not null,
  found   bigint check (found > -1e15 and found < 1e15) constraint replica_found_allowed check (found >= 0),
  total   bigint check (total > -1e15 and total < 1e15) constraint replica_total_allowed check (total >= 0),
  asize   bigint check (asize > -1e15 and asize < 1e15) constraint replica_asize_allowed check (asize >= 0),
  tsize   bigint check (tsize > -1e15 and tsize < 1e15) constraint replica_tsize_allowed check (tsize >= 0),
  vp      boolean default false,
  lfns    text[],
  primary key (setup, dataset, storage)
);
create index replica_storage on workload.replica (setup, storage);
comment on table workload.replica is
  'Replicas of datasets. Complete when found = total; an incomplete one holds its lfns, or the first files of the '
  'dataset.';
comment on column workload.replica.storage is 'Storage endpoint.';
comment on column workload.replica.found is 'Files there; null = as many as lfns, else all.';
comment on column workload.replica.total is 'Files of the dataset; null = as many as it has here.';
comment on column workload.replica.asize is 'Bytes there; null = summed from the files.';
comment on column workload.replica.tsize is 'Bytes of the dataset; null = summed from the files.';
comment on column workload.replica.vp is 'A virtual placement: a cache may hold it.';
comment on column workload.replica.lfns is 'Files there, where not all are; null = the first found ones.';

create table workload.task (
  setup                  text not null references resource.setup on delete cascade,
  task_id                bigint not null constraint task_task_id_allowed check (task_id >= 0),
  label                  text default 'managed',
  gshare                 text default 'Reprocessing default',
  status                 text default 'ready'
    constraint task_status_allowed check (status in ('registered', 'defined', 'assigning', 'ready', 'pending',
      'scouting', 'scouted', 'running', 'prepared', 'done', 'failed', 'finished', 'aborting', 'aborted', 'finishing',
      'topreprocess', 'preprocessing', 'tobroken', 'broken', 'toretry', 'toincexec', 'toreassign', 'rerefine',
      'paused', 'throttled', 'exhausted', 'passed', 'staging', 'staged', 'merging', 'waiting')),
  user_name              text,
  orig_user              text,
  working_group          text,
  processing_type        text default 'reprocessing',
  task_priority          int default 500 check (task_priority > -1e9 and task_priority < 1e9),
  current_priority       int default 500 check (current_priority > -1e9 and current_priority < 1e9),
  core_count             int default 1 check (core_count > -1e9 and core_count < 1e9)
    constraint task_core_count_allowed check (core_count >= 0),
  merge_core_count       int check (merge_core_count > -1e9 and merge_core_count < 1e9)
    constraint task_merge_core_count_allowed check (merge_core_count >= 0),
  max_core_count         int check (max_core_count > -1e9 and max_core_count < 1e9)
    constraint task_max_core_count_allowed check (max_core_count >= 0),
  ram_count              float8 default 2000 check (ram_count > -1e15 and ram_count < 1e15)
    constraint task_ram_count_allowed check (ram_count >= 0),
  ram_unit               text default 'MBPerCore'
    constraint task_ram_unit_allowed check (ram_unit ~ '^(MB(PerCore)?(Fixed)?)?$'),
  base_ram_count         float8 default 0 check (base_ram_count > -1e15 and base_ram_count < 1e15)
    constraint task_base_ram_count_allowed check (base_ram_count >= 0),
  merge_ram_count        float8 check (merge_ram_count > -1e15 and merge_ram_count < 1e15)
    constraint task_merge_ram_count_allowed check (merge_ram_count >= 0),
  chunk_ram_count        float8 check (chunk_ram_count > -1e15 and chunk_ram_count < 1e15)
    constraint task_chunk_ram_count_allowed check (chunk_ram_count >= 0),
  cpu_time               float8 default 1 check (cpu_time > -1e15 and cpu_time < 1e15)
    constraint task_cpu_time_allowed check (cpu_time >= 0),
  cpu_time_unit          text default 'HS06sPerEvent'
    constraint task_cpu_time_unit_allowed check (cpu_time_unit ~ '^(m?HS06s?(PerEvent)?(Fixed)?|'
        'm?(s|sec|seconds|min|minutes|h|hours|kS|kSI2k[a-z]*)(Per(Event|MB|File))?(Fixed)?)?$'),
  cpu_efficiency         float8 default 90 check (cpu_efficiency > -1e15 and cpu_efficiency < 1e15)
    constraint task_cpu_efficiency_allowed check (cpu_efficiency >= 0),
  base_walltime          float8 default 0 check (base_walltime > -1e15 and base_walltime < 1e15)
    constraint task_base_walltime_allowed check (base_walltime >= 0),
  walltime               float8 check (walltime > -1e15 and walltime < 1e15),
  walltime_unit          text
    constraint task_walltime_unit_allowed check (walltime_unit ~ '^(m?HS06s?(PerEvent)?(Fixed)?|'
        'm?(s|sec|seconds|min|minutes|h|hours|kS|kSI2k[a-z]*)(Per(Event|MB|File))?(Fixed)?)?$'),
  out_disk_count         float8 default 0 check (out_disk_count > -1e15 and out_disk_count < 1e15),
  out_disk_unit          text default 'kB'
    constraint task_out_disk_unit_allowed check (out_disk_unit ~ '^([kKmMgGtT]?[bB](Per(Event|MB))?(Fixed)?)?$'),
  work_disk_count        float8 check (work_disk_count > -1e15 and work_disk_count < 1e15),
  work_disk_unit         text default 'MB'
    constraint task_work_disk_unit_allowed check (work_disk_unit ~ '^([kKmMgGtT]?[bB](Per(Event|MB))?(Fixed)?)?$'),
  io_intensity           float8 check (io_intensity > -1e15 and io_intensity < 1e15)
    constraint task_io_intensity_allowed check (io_intensity >= 0),
  disk_io                float8 check (disk_io > -1e15 and disk_io < 1e15)
    constraint task_disk_io_allowed check (disk_io >= 0),
  architecture           text,
  trans_home             text,
  trans_uses             text,
  container_name         text,
  only_tags_for_fc       boolean default false,
  nucleus                text,
  cloud                  text,
  site                   text,
  parent                 bigint,
  resource_type          text default 'SCORE',
  event_service          smallint default 0 constraint task_event_service_allowed check (event_service >= 0),
  frozen                 timestamptz,
  task_class             smallint constraint task_task_class_allowed check (task_class between -1 and 2),
  is_merging             boolean default false,
  use_scout              boolean default false,
  t1_weight              float8 check (t1_weight > -1e15 and t1_weight < 1e15),
  ip_connectivity        smallint constraint task_ip_connectivity_allowed check (ip_connectivity in (1, 2, 3)),
  ip_stack               smallint constraint task_ip_stack_allowed check (ip_stack in (4, 6)),
  allow_input_lan        smallint constraint task_allow_input_lan_allowed check (allow_input_lan in (1, 2)),
  allow_input_wan        smallint constraint task_allow_input_wan_allowed check (allow_input_wan in (1, 2)),
  use_local_io           boolean default false,
  input_pre_staging      boolean default false,
  merge_output           boolean default false,
  full_chain             smallint constraint task_full_chain_allowed check (full_chain in (1, 2, 3)),
  limited_sites          boolean default false,
  avoid_vp               boolean default false,
  scouting               smallint constraint task_scouting_allowed check (scouting in (1, 2)),
  n_files_per_job        bigint check (n_files_per_job > -1e15 and n_files_per_job < 1e15)
    constraint task_n_files_per_job_allowed check (n_files_per_job >= 1),
  n_files_per_merge_job  bigint check (n_files_per_merge_job > -1e15 and n_files_per_merge_job < 1e15)
    constraint task_n_files_per_merge_job_allowed check (n_files_per_merge_job >= 1),
  n_events_per_job       bigint check (n_events_per_job > -1e15 and n_events_per_job < 1e15)
    constraint task_n_events_per_job_allowed check (n_events_per_job >= 1),
  n_gb_per_job           float8 check (n_gb_per_job > -1e15 and n_gb_per_job < 1e15)
    constraint task_n_gb_per_job_allowed check (n_gb_per_job >= 0),
  dynamic_num_events     bigint check (dynamic_num_events > -1e15 and dynamic_num_events < 1e15)
    constraint task_dynamic_num_events_allowed check (dynamic_num_events >= 0),
  max_events_per_job     bigint check (max_events_per_job > -1e15 and max_events_per_job < 1e15)
    constraint task_max_events_per_job_allowed check (max_events_per_job >= 1),
  allow_incomplete_in_ds boolean default false,
  n_jumbo_jobs           bigint check (n_jumbo_jobs > -1e15 and n_jumbo_jobs < 1e15)
    constraint task_n_jumbo_jobs_allowed check (n_jumbo_jobs >= 0),
  hpo_workflow           boolean default false,
  included_site          text[],
  excluded_site          text[],
  task_broker_on_master  boolean default false,
  sites_used             text[] default '{}',
  resource_types_at      jsonb default '{}',
  task_classified        timestamptz,
  primary key (setup, task_id)
);
create index task_due on workload.task (setup, status);
comment on table workload.task is 'Tasks, or the chunk of a task that is to be brokered. Names are JEDI''s.';
comment on column workload.task.task_id is 'JEDI task id.';
comment on column workload.task.label is 'prodSourceLabel: managed, user, test, ...';
comment on column workload.task.status is
  'JEDI''s status; tasks in assigning are brokered to nuclei, the jobs of ready, scouting, running and pending '
  'ones.';
comment on column workload.task.orig_user is 'User before the name was cleaned.';
comment on column workload.task.working_group is 'Working group; null = none.';
comment on column workload.task.processing_type is 'Processing type: evgen, simul, reprocessing, urgent, ...';
comment on column workload.task.task_priority is 'Priority of the task.';
comment on column workload.task.current_priority is 'Priority now; high from 800, express from 1000.';
comment on column workload.task.core_count is 'Cores of a job; 0 = any, null = 1.';
comment on column workload.task.merge_core_count is 'Cores of a merge job; null = as core_count.';
comment on column workload.task.max_core_count is 'Cores of a queue at most (split rule maxCoreCount).';
comment on column workload.task.ram_count is 'Memory (MB), see ram_unit; null or 0 = not known.';
comment on column workload.task.ram_unit is 'MB, MBPerCore or MBPerCoreFixed.';
comment on column workload.task.base_ram_count is 'Memory beside what grows with cores (MB).';
comment on column workload.task.merge_ram_count is 'Memory of a merge job (MB).';
comment on column workload.task.chunk_ram_count is
  'Memory that this chunk needs, where it is more than the task''s (MB).';
comment on column workload.task.cpu_time is 'CPU time, see cpu_time_unit.';
comment on column workload.task.cpu_time_unit is
  'HS06sPerEvent, mHS06sPerEvent (a thousandth), or none of HS06: walltime counts.';
comment on column workload.task.cpu_efficiency is 'Percent of the walltime that is CPU time; null counts 90.';
comment on column workload.task.base_walltime is 'Walltime beside the events (s).';
comment on column workload.task.walltime is 'Walltime (s per MB of input), where cpu_time_unit is not HS06.';
comment on column workload.task.walltime_unit is 'Unit of walltime; null = walltime is not known.';
comment on column workload.task.out_disk_count is 'Output, see out_disk_unit.';
comment on column workload.task.out_disk_unit is
  'B, kB, MB or GB; PerEvent: for each event, else for each MB of input.';
comment on column workload.task.work_disk_count is
  'Scratch beside input and output, see work_disk_unit; null = none.';
comment on column workload.task.work_disk_unit is 'B, kB, MB or GB.';
comment on column workload.task.io_intensity is 'Input and output per second (kB/s).';
comment on column workload.task.disk_io is 'Disk IO per second (kB/s).';
comment on column workload.task.architecture is
  'sw_platform<@base_platform><#host_cpu_spec><&host_gpu_spec>, or JSON.';
comment on column workload.task.trans_home is 'Release: AtlasOffline-21.0.38, Athena-22.0.1, ...';
comment on column workload.task.trans_uses is 'Base release of user jobs.';
comment on column workload.task.container_name is 'Container; null = none.';
comment on column workload.task.only_tags_for_fc is 'The container must be one of the published tags.';
comment on column workload.task.nucleus is 'Nucleus that outputs are gathered at; null = not yet brokered.';
comment on column workload.task.site is 'Pre-assigned queues, separated by commas.';
comment on column workload.task.parent is 'Task whose output is the input.';
comment on column workload.task.event_service is '0 = none, 1 or 2 = event service.';
comment on column workload.task.frozen is 'Since when nothing goes on.';
comment on column workload.task.task_class is 'Class of user analysis: 2 S, 1 A, 0 B, -1 C; null = not evaluated.';
comment on column workload.task.is_merging is 'The chunk makes merge jobs.';
comment on column workload.task.use_scout is 'The chunk makes scout jobs.';
comment on column workload.task.t1_weight is 'Weight of the nucleus; negative: only queues of the nucleus.';
comment on column workload.task.ip_connectivity is
  'Outbound network that jobs need: 1 full, 2 http, 3 none; null = not said.';
comment on column workload.task.ip_stack is 'IP stack that jobs need: 4 or 6; null = not said.';
comment on column workload.task.allow_input_lan is 'Direct access to input: 1 use, 2 only; null = copy.';
comment on column workload.task.allow_input_wan is 'Direct access to remote input: 1 use, 2 only.';
comment on column workload.task.use_local_io is 'Input is copied, whatever allow_input_lan says.';
comment on column workload.task.input_pre_staging is 'Data carousel: input is staged while the task runs.';
comment on column workload.task.merge_output is 'Outputs are merged (pre-merged jobs).';
comment on column workload.task.full_chain is '1 only, 2 require, 3 capable.';
comment on column workload.task.limited_sites is 'Sites are limited by included_site and excluded_site.';
comment on column workload.task.avoid_vp is 'No queues of virtual placement.';
comment on column workload.task.scouting is 'Split rule useScout: 1 scouting wanted, 2 done.';
comment on column workload.task.n_files_per_job is 'Files a job; null counts 1.';
comment on column workload.task.n_files_per_merge_job is 'Files a merge job; null counts 1.';
comment on column workload.task.n_events_per_job is 'Events a job.';
comment on column workload.task.n_gb_per_job is 'Input a job (GB).';
comment on column workload.task.dynamic_num_events is 'Dynamic number of events: events of the smallest job.';
comment on column workload.task.max_events_per_job is 'Events a job at most, with the dynamic number of events.';
comment on column workload.task.allow_incomplete_in_ds is 'Incomplete input datasets are allowed.';
comment on column workload.task.n_jumbo_jobs is 'Jumbo jobs.';
comment on column workload.task.hpo_workflow is 'Hyperparameter optimisation.';
comment on column workload.task.included_site is 'Queues to use, names or patterns with *; null = all.';
comment on column workload.task.excluded_site is 'Queues not to use, names or patterns with *.';
comment on column workload.task.task_broker_on_master is 'Only the first input dataset counts in task brokerage.';
comment on column workload.task.sites_used is 'Queues that jobs of the task went to.';
comment on column workload.task.resource_types_at is 'Resource types of the task''s jobs by queue.';
comment on column workload.task.task_classified is 'When task_class was said; null = it holds as it is.';
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
comment on constraint task_ip_connectivity_allowed on workload.task is '1 (full), 2 (http) or 3 (none)';
comment on constraint task_ip_stack_allowed on workload.task is '4 (IPv4) or 6 (IPv6)';
comment on constraint task_allow_input_lan_allowed on workload.task is '1 (use) or 2 (only)';
comment on constraint task_allow_input_wan_allowed on workload.task is '1 (use) or 2 (only)';
comment on constraint task_full_chain_allowed on workload.task is '1 (only), 2 (require) or 3 (capable)';
comment on constraint task_scouting_allowed on workload.task is '1 (scouting) or 2 (done)';

create table workload.task_dataset (
  setup     text not null references resource.setup on delete cascade,
  task_id   bigint not null,
  direction text not null check (direction in ('input', 'output')),
  position  int not null check (position > -1e9 and position < 1e9),
  dataset   text,
  token     text,
  primary key (setup, task_id, direction, position)
);
create index task_dataset_dataset on workload.task_dataset (setup, dataset);
comment on table workload.task_dataset is 'Input and output datasets of tasks; the first input is the primary one.';
comment on column workload.task_dataset.direction is 'input or output.';
comment on column workload.task_dataset.token is 'Output: destination token, null = none.';
comment on constraint task_dataset_direction_check on workload.task_dataset is 'input or output';

create table workload.input_digest (
  setup           text not null references resource.setup on delete cascade,
  task_id         bigint not null,
  files           bigint,
  size            bigint,
  shared_files    boolean,
  jobs            bigint,
  job_events      bigint,
  job_input_mb    float8,
  job_input_bytes bigint,
  events          bigint,
  primary key (setup, task_id)
);
comment on table workload.input_digest is
  'What a task''s input amounts to, as brokerage reads it. Derived from its datasets by workload.digest_input.';
comment on column workload.input_digest.files is 'Files of the datasets that are not pseudo, each name once.';
comment on column workload.input_digest.size is 'Their bytes.';
comment on column workload.input_digest.shared_files is 'A name is in two datasets of the task.';
comment on column workload.input_digest.jobs is 'Jobs: groups of nFilesPerJob primary files.';
comment on column workload.input_digest.job_events is 'Events of the largest job.';
comment on column workload.input_digest.job_input_mb is
  'Input of the largest job from the primary dataset (MB, a file of size 0 counts 1).';
comment on column workload.input_digest.job_input_bytes is 'Input of the largest job from all datasets (bytes).';
comment on column workload.input_digest.events is 'Events of the primary dataset.';

create table workload.task_result (
  setup    text not null references resource.setup on delete cascade,
  task_id  bigint not null,
  queue    text not null,
  failed   bigint default 0 check (failed > -1e15 and failed < 1e15)
    constraint task_result_failed_allowed check (failed >= 0),
  closed   bigint default 0 check (closed > -1e15 and closed < 1e15)
    constraint task_result_closed_allowed check (closed >= 0),
  finished bigint default 0 check (finished > -1e15 and finished < 1e15)
    constraint task_result_finished_allowed check (finished >= 0),
  primary key (setup, task_id, queue)
);
comment on table workload.task_result is 'How the jobs of a task ended at a queue lately.';
comment on column workload.task_result.failed is 'Failed.';
comment on column workload.task_result.closed is 'Closed, to be assigned elsewhere.';
comment on column workload.task_result.finished is 'Finished.';

create table workload.statistic (
  setup         text not null references resource.setup on delete cascade,
  number        bigint not null generated always as identity,
  queue         text,
  gshare        text,
  resource_type text,
  nucleus       text,
  label         text,
  status        text
    constraint statistic_status_allowed check (status in ('pending', 'defined', 'waiting', 'assigned', 'activated',
      'throttled', 'sent', 'starting', 'running', 'holding', 'merging', 'transferring', 'finished', 'failed',
      'cancelled', 'closed')),
  njobs         bigint default 0 check (njobs > -1e15 and njobs < 1e15)
    constraint statistic_njobs_allowed check (njobs >= 0),
  ncores        bigint check (ncores > -1e15 and ncores < 1e15)
    constraint statistic_ncores_allowed check (ncores >= 0),
  diskio        float8 check (diskio > -1e15 and diskio < 1e15)
    constraint statistic_diskio_allowed check (diskio >= 0),
  primary key (setup, number)
);
create index statistic_queue on workload.statistic (setup, queue);
comment on table workload.statistic is
  'Job counts kept elsewhere; they add to those of workload.job (workload.job_statistic).';
comment on column workload.statistic.number is 'Which row.';
comment on column workload.statistic.queue is 'Unified queue.';
comment on column workload.statistic.nucleus is 'Nucleus that outputs go to.';
comment on column workload.statistic.status is 'Status of the jobs.';
comment on column workload.statistic.njobs is 'Jobs.';
comment on column workload.statistic.ncores is 'Cores.';
comment on column workload.statistic.diskio is 'Mean diskIO of running jobs (kB/s per core).';
comment on constraint statistic_status_allowed on workload.statistic is
  'a status of jobs: pending, defined, waiting, assigned, activated, throttled, sent, starting, running, holding, '
  'merging, transferring, finished, failed, cancelled, closed';

-- Few indexes: each costs every change of a job. A change of a job's status touches none of them except when the job
-- starts, ends or goes back to its task, so that most changes are heap-only. No CHECK on what the calls write:
-- PostgreSQL reads each constraint anew for each statement (20 us). workload.refuse_jobs checks jobs that are loaded.
create table workload.job (
  setup           text not null references resource.setup on delete cascade,
  job_id          bigint not null,
  task_id         bigint,
  queue           text,
  status          text,
  sub_status      text,
  priority        int,
  gshare          text,
  label           text,
  user_name       text,
  working_group   text,
  resource_type   text,
  cores           int,
  created         timestamptz,
  modified        timestamptz,
  state_changed   timestamptz,
  started         timestamptz,
  ended           timestamptz,
  workflow        text,
  relocation_flag smallint,
  activated       timestamptz,
  processing_type text,
  nucleus         text,
  number          bigint,
  rebrokered      int not null default 0,
  previous_queues text[],
  disk_io         float8,
  input_files     bigint,
  input_bytes     bigint,
  events          bigint,
  primary key (setup, job_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create unique index job_task on workload.job (setup, task_id, number, rebrokered);
comment on index workload.job_task is 'Each part of a task''s input is the work of one job at a time.';
create index job_active on workload.job (setup, task_id, queue) where ended is null;
create index job_analysis on workload.job (setup, started) where gshare = 'User Analysis';
comment on table workload.job is 'Jobs. Brokerage counts them.';
comment on column workload.job.job_id is 'PanDA id.';
comment on column workload.job.task_id is 'Task; null = none.';
comment on column workload.job.queue is 'Unified queue; null = not brokered.';
comment on column workload.job.status is 'PanDA''s status: defined, assigned, activated, starting, running, ...';
comment on column workload.job.sub_status is 'Status within.';
comment on column workload.job.priority is 'Current priority.';
comment on column workload.job.cores is 'Cores.';
comment on column workload.job.created is 'When it was made.';
comment on column workload.job.modified is
  'When it last changed or, for one that no JobAgent of this database has, was last heard of.';
comment on column workload.job.state_changed is 'When its status changed.';
comment on column workload.job.started is 'When it started.';
comment on column workload.job.ended is 'When it ended.';
comment on column workload.job.workflow is 'Workflow.';
comment on column workload.job.relocation_flag is 'PanDA''s relocationFlag.';
comment on column workload.job.activated is 'Since when it waited for a worker node; null = since it was created.';
comment on column workload.job.processing_type is 'processingType; pmerge is a merge job; null = as its task.';
comment on column workload.job.nucleus is 'Nucleus of its task when it was made; null = none.';
comment on column workload.job.number is 'Which part of its task''s input it works on, from 1; null = not made here.';
comment on column workload.job.rebrokered is
  '0 = its part of the input is its own; else the how-manieth job of that part it was whose work went back to the '
  'task.';
comment on column workload.job.previous_queues is
  'Queues where its part of the input was before, oldest first; null = none.';
comment on column workload.job.disk_io is 'diskIO of its task (kB/s per core); null = not known.';
comment on column workload.job.input_files is 'Files it reads; null = not made here.';
comment on column workload.job.input_bytes is 'Bytes of them; null = not made here.';
comment on column workload.job.events is 'Events of its part of the primary input; null = not made here.';

create table workload.user_queue_statistic (
  setup         text not null references resource.setup on delete cascade,
  queue         text not null,
  gshare        text not null,
  user_name     text not null,
  queued        bigint default 0 check (queued > -1e15 and queued < 1e15)
    constraint user_queue_statistic_queued_allowed check (queued >= 0),
  running       bigint default 0 check (running > -1e15 and running < 1e15)
    constraint user_queue_statistic_running_allowed check (running >= 0),
  running_cores bigint check (running_cores > -1e15 and running_cores < 1e15),
  primary key (setup, queue, gshare, user_name)
);
comment on table workload.user_queue_statistic is
  'Jobs of users at queues by share; the user _total holds the totals where not every user is listed.';
comment on column workload.user_queue_statistic.user_name is 'User, or _total.';
comment on column workload.user_queue_statistic.queued is 'Queued jobs.';
comment on column workload.user_queue_statistic.running is 'Running jobs.';
comment on column workload.user_queue_statistic.running_cores is 'Cores of the running jobs; null = one a job.';

create table workload.to_running_rate (
  setup  text not null references resource.setup on delete cascade,
  queue  text not null,
  gshare text not null,
  rate   float8 check (rate > -1e15 and rate < 1e15) constraint to_running_rate_rate_allowed check (rate >= 0),
  primary key (setup, queue, gshare)
);
comment on table workload.to_running_rate is 'Jobs that started per hour at a queue.';
comment on column workload.to_running_rate.gshare is 'Global share; empty = all.';
comment on column workload.to_running_rate.rate is 'Jobs per hour.';

create table workload.remaining_work (
  setup    text not null references resource.setup on delete cascade,
  nucleus  text not null,
  gshare   text not null,
  priority int not null check (priority > -1e9 and priority < 1e9),
  work     float8 check (work > -1e15 and work < 1e15) constraint remaining_work_work_allowed check (work >= 0),
  primary key (setup, nucleus, gshare, priority)
);
comment on table workload.remaining_work is 'Work that is left at a nucleus (HS06 s).';
comment on column workload.remaining_work.gshare is 'Global share; empty = the whole work of the nucleus.';
comment on column workload.remaining_work.priority is 'Priority of the tasks; 0 with the whole work.';
comment on column workload.remaining_work.work is 'HS06 s.';

create sequence workload.job_id start 1000000000000;
comment on sequence workload.job_id is 'Ids of jobs made here, from 10^12 on: those that submitters give are below.';

create table workload.transition (
  from_status text,
  to_status   text not null,
  constraint transition_key unique nulls not distinct (from_status, to_status)
);
comment on table workload.transition is
  'Which changes of a job''s status there are; workload.change_status refuses all others.';
comment on column workload.transition.from_status is 'Status before; null = the job is made, or loaded.';
comment on column workload.transition.to_status is 'Status after.';
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

create table workload.job_history (
  setup       text not null,
  at          timestamptz not null,
  number      bigint not null default nextval('workload.job_history_number'),
  job_id      bigint not null,
  from_status text,
  to_status   text not null,
  role_name   text not null,
  why         text
) partition by range (at);
create table workload.job_history_default partition of workload.job_history default;
create index job_history_job on workload.job_history (setup, job_id, at);
comment on table workload.job_history is 'Every change of a job''s status.';
comment on column workload.job_history.number is 'Order of changes at one time.';
comment on column workload.job_history.job_id is 'Job.';
comment on column workload.job_history.from_status is 'Status before; null = made.';
comment on column workload.job_history.to_status is 'Status after.';
comment on column workload.job_history.role_name is 'Who: the database role that called.';
comment on column workload.job_history.why is 'Why: what was called, or the rule that applied.';

create table workload.job_change (
  setup           text not null,
  at              timestamptz not null,
  jobs            bigint not null,
  from_status     text,
  to_status       text,
  task_id         bigint,
  queue           text,
  gshare          text,
  resource_type   text,
  nucleus         text,
  label           text,
  user_name       text,
  working_group   text,
  processing_type text,
  cores           bigint not null,
  disk_io         numeric,
  disk_io_jobs    bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
comment on table workload.job_change is
  'Changes of status that the counts below do not hold yet: one row a change, or a group of equal ones.';
comment on column workload.job_change.jobs is 'Jobs that changed.';
comment on column workload.job_change.from_status is 'Status before; null = made.';
comment on column workload.job_change.to_status is 'Status after; null = forgotten.';
comment on column workload.job_change.task_id is 'Task; null = none.';
comment on column workload.job_change.queue is 'Unified queue; null = none yet.';
comment on column workload.job_change.gshare is 'Global share; null = none.';
comment on column workload.job_change.resource_type is 'Resource type; null = none.';
comment on column workload.job_change.nucleus is 'Nucleus that outputs go to; null = none.';
comment on column workload.job_change.label is 'prodSourceLabel; null = none.';
comment on column workload.job_change.user_name is 'User; null = none.';
comment on column workload.job_change.working_group is 'Working group; null = none.';
comment on column workload.job_change.processing_type is 'processingType; null = none.';
comment on column workload.job_change.cores is 'Cores of these jobs.';
comment on column workload.job_change.disk_io is 'Sum of their diskIO; null = not known of any.';
comment on column workload.job_change.disk_io_jobs is 'How many of them say a diskIO.';

create table workload.queue_count (
  setup         text not null,
  queue         text,
  gshare        text,
  resource_type text,
  nucleus       text,
  label         text,
  status        text not null,
  jobs          bigint not null,
  cores         bigint not null,
  disk_io       numeric not null,
  disk_io_jobs  bigint not null,
  constraint queue_count_key unique nulls not distinct (setup, queue, gshare, resource_type, nucleus, label, status)
) with (fillfactor = 50);
comment on table workload.queue_count is
  'Jobs that have not ended, counted by what brokerage looks at; workload.job_change adds to them.';
comment on column workload.queue_count.queue is 'Unified queue; null = none yet.';
comment on column workload.queue_count.gshare is 'Global share; null = none.';
comment on column workload.queue_count.resource_type is 'Resource type; null = none.';
comment on column workload.queue_count.nucleus is 'Nucleus that outputs go to; null = none.';
comment on column workload.queue_count.label is 'prodSourceLabel; null = none.';
comment on column workload.queue_count.cores is 'Cores of them.';
comment on column workload.queue_count.disk_io is 'Sum of the diskIO of those that say one.';
comment on column workload.queue_count.disk_io_jobs is 'How many say one.';

create table workload.user_count (
  setup           text not null,
  user_name       text,
  working_group   text,
  queue           text,
  gshare          text,
  label           text,
  processing_type text,
  status          text not null,
  jobs            bigint not null,
  cores           bigint not null,
  constraint user_count_key unique nulls not distinct (setup, user_name, working_group, queue, gshare, label,
    processing_type, status)
) with (fillfactor = 50);
create index user_count_group on workload.user_count (setup, working_group) where working_group <> '';
comment on table workload.user_count is
  'Jobs that have not ended, counted by user; workload.job_change adds to them.';
comment on column workload.user_count.user_name is 'User; null = none.';
comment on column workload.user_count.working_group is 'Working group; null = none.';
comment on column workload.user_count.queue is 'Unified queue; null = none yet.';
comment on column workload.user_count.gshare is 'Global share; null = none.';
comment on column workload.user_count.label is 'prodSourceLabel; null = none.';
comment on column workload.user_count.processing_type is 'processingType; null = none.';
comment on column workload.user_count.cores is 'Cores of them.';

create table workload.task_count (
  setup   text not null,
  task_id bigint not null,
  status  text not null,
  jobs    bigint not null,
  cores   bigint not null,
  constraint task_count_key unique (setup, task_id, status)
) with (fillfactor = 50);
comment on table workload.task_count is
  'Jobs counted by task, ended ones among them; workload.job_change adds to them.';
comment on column workload.task_count.cores is 'Cores of them.';

create table workload.start_count (
  setup         text not null,
  queue         text,
  gshare        text,
  resource_type text,
  minute        timestamptz not null,
  jobs          bigint not null,
  last_at       timestamptz not null,
  constraint start_count_key unique nulls not distinct (setup, queue, gshare, resource_type, minute)
);
create index start_count_last on workload.start_count (setup, queue, last_at);
comment on table workload.start_count is 'Jobs that began to run, by minute; workload.job_change adds to them.';
comment on column workload.start_count.queue is 'Unified queue; null = none yet.';
comment on column workload.start_count.gshare is 'Global share; null = none.';
comment on column workload.start_count.resource_type is 'Resource type; null = none.';
comment on column workload.start_count.minute is 'The minute, by its begin.';
comment on column workload.start_count.last_at is 'The last of them.';

create table workload.end_count (
  setup   text not null,
  task_id bigint not null,
  queue   text,
  status  text not null,
  minute  timestamptz not null,
  jobs    bigint not null,
  constraint end_count_key unique nulls not distinct (setup, task_id, queue, status, minute)
);
comment on table workload.end_count is
  'Jobs that ended, by task, queue and minute; workload.job_change adds to them.';
comment on column workload.end_count.queue is 'Unified queue; null = none yet.';
comment on column workload.end_count.status is 'finished, failed, cancelled or closed.';
comment on column workload.end_count.minute is 'The minute, by its begin.';
