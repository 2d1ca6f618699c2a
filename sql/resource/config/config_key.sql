-- gdpconfig: every key that a rule of brokerage-rules reads, timeouts too, so that a misspelt key is no configuration.
create or replace view resource.config_key as
select k.app, k.component, k.key, '^' || regexp_replace(k.key, '<[a-z]+>', '.+', 'g') || '$' as pattern, k.type, k.default_value, k.unit, k.meaning, k.zero_is_default,
       k.profiles::text[] as profiles
  from (values
    ('jedi', 'jobbroker', 'NQUEUED_SAT_CAP', 'number', '150'::jsonb, 'files', 'Files queued on a link to the nucleus at most.', false, '{documented,panda2026}'),
    ('jedi', 'jobbroker', 'NQUEUED_NUC_CAP_FOR_JOBS', 'number', '10000', 'files', 'Files queued into a nucleus at most.', false, '{documented,panda2026}'),
    ('jedi', 'jobbroker', 'IO_INTENSITY_CUTOFF', 'number', '200', 'kB/s', 'ioIntensity above which input must be local.', false, '{documented,panda2026}'),
    ('jedi', 'jobbroker', 'SIZE_CUTOFF_TO_MOVE_INPUT', 'number', '10', 'GB', 'Missing input that may be moved all the same.', false, '{documented,panda2026}'),
    ('jedi', 'jobbroker', 'NUM_CUTOFF_TO_MOVE_INPUT', 'number', '100', 'files', 'Missing files that may be moved all the same.', false, '{documented,panda2026}'),
    ('jedi', 'jobbroker', 'MAX_DISKIO_DEFAULT', 'number', null, 'kB/s per core', 'diskIO of a queue at most where it has no maxdiskio.', true, '{documented,panda2026}'),
    ('jedi', 'jobbroker', 'NW_THRESHOLD', 'number', '1.7', 'factor', 'Network weight that express jobs need.', false, '{documented,panda2026}'),
    ('jedi', 'jobbroker', 'NW_WEIGHT_MULTIPLIER', 'number', '1', 'factor', 'Multiplies NW_THRESHOLD.', false, '{documented,panda2026}'),
    ('jedi', 'jobbroker', 'NW_ACTIVE', 'boolean', 'false', 'true or false', 'The network weight counts.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'NW_QUEUE_IMPORTANCE', 'number', '0.5', 'fraction', 'Part of queued files in the network weight; the rest is throughput.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'STORAGE_MIN_FREE_SIZE', 'number', '200', 'GB', 'Space that an output storage needs (input storage in the second loop of analysis).', true, '{panda2026}'),
    ('jedi', 'jobbroker', 'MAX_MISSING_INPUT_FILES', 'number', '10', 'files', 'Files that a replica may miss and count as complete.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'MIN_INPUT_COMPLETENESS', 'number', '90', 'percent', 'Part of its files with which a replica counts as complete.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'MAX_PRIO_TO_BOOTSTRAP', 'number', '150', 'priority', 'Priority up to which idle queues are tried, and slots and workers count.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'NQUEUELIMITSITE_<gshare>', 'number', '20', 'jobs', 'Queued jobs that a queue may have whatever runs there.', true, '{panda2026}'),
    ('jedi', 'jobbroker', 'MIN_WEIGHT_<label>', 'number', '0', 'weight', 'Weight that a queue needs.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'MIN_WEIGHT_<label>_<gshare>', 'number', null, 'weight', 'The like for a share; null = MIN_WEIGHT_<label>.', false, '{panda2026}'),
    ('jedi', 'core', 'WORK_SHORTAGE', 'boolean', 'false', 'true or false', 'Only pledged cores are used.', false, '{panda2026}'),
    ('jedi', 'anal_jobbroker', 'IO_INTENSITY_CUTOFF_USER', 'number', null, 'kB/s', 'ioIntensity up to which locality does not matter; null = it always does.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'TW_DONE_JOB_STAT', 'number', '6', 'h', 'How long ended jobs of a task count.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'MIN_BAD_JOBS_TO_SKIP_PQ', 'number', '5', 'jobs', 'Failed and closed jobs from which a queue is bad.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'OVERLOAD_MIN_QUEUE', 'number', '20', 'jobs', 'Queued jobs above which a queue may be overloaded.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'OVERLOAD_RATIO_OFFSET', 'number', '1.2', 'factor', 'Queued per running, against the grid''s, above which a queue is overloaded.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'BASE_QUEUE_LENGTH_PER_PQ', 'number', '100', 'jobs', 'Queue up to which users are not throttled.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'BASE_EXPECTED_WAIT_HOUR_ON_PQ', 'number', '8', 'h', 'Expected wait up to which users are not throttled.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER', 'number', '5', 'jobs', 'Queue that each user may have.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'BASE_QUEUE_RATIO_ON_PQ', 'number', '0.05', 'fraction', 'Queue that each user may have, of the running jobs.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'STATIC_MAX_QUEUE_RUNNING_RATIO', 'number', '2', 'factor', 'Queue that all users may have, by the running jobs.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'MAX_EXPECTED_WAIT_HOUR', 'number', '12', 'h', 'Expected wait that all users may have.', false, '{documented,panda2026}'),
    ('jedi', 'anal_jobbroker', 'MAX_MISSING_INPUT_FILES', 'number', '10', 'files', 'Files that a replica may miss and count as complete.', false, '{panda2026}'),
    ('jedi', 'anal_jobbroker', 'MIN_INPUT_COMPLETENESS', 'number', '90', 'percent', 'Part of its files with which a replica counts as complete.', false, '{panda2026}'),
    ('jedi', 'anal_jobbroker', 'DATA_CHECK_TIMEOUT_USER', 'number', null, 'h', 'Frozen for so long, a task may run without locality; null = never.', false, '{panda2026}'),
    ('jedi', 'anal_jobbroker', 'STORAGE_MIN_FREE_SIZE_OUTPUT', 'number', '200', 'GB', 'Space that an output storage needs.', false, '{panda2026}'),
    ('jedi', 'taskbrokerage', 'NQUEUED_NUC_CAP', 'number', '2000', 'files', 'Files queued into a nucleus at most.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'DISK_THRESHOLD', 'number', '100', 'TB', 'Space that a nucleus needs.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'DISK_THRESHOLD_<gshare>', 'number', null, 'TB', 'The like for a share; null = DISK_THRESHOLD.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'INPUT_SIZE_THRESHOLD', 'number', '1', 'GB', 'Input above which a part of it must be local.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'INPUT_SIZE_FRACTION', 'number', '10', 'percent', 'That part.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'INPUT_NUM_THRESHOLD', 'number', '100', 'files', 'Files above which a part of them must be local.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'INPUT_NUM_FRACTION', 'number', '10', 'percent', 'That part.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'MIN_IO_INTENSITY_WITH_LOCAL_DATA', 'number', '200', 'kB/s', 'ioIntensity above which local input counts.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'MIN_INPUT_SIZE_WITH_LOCAL_DATA', 'number', '10000', 'GB', 'Input above which it must be local even where nobody has it.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'MAX_TASK_PRIO_WITH_LOCAL_DATA', 'number', '800', 'priority', 'Priority from which locality may be given up.', false, '{documented,panda2026}'),
    ('jedi', 'taskbrokerage', 'DATA_LOCATION_CHECK_PERIOD', 'number', '7', 'days', 'Frozen for so long, a task may run without locality.', true, '{panda2026}'),
    ('jedi', 'taskbrokerage', 'FREE_DISK_CUTOFF', 'number', '1000', 'TB', 'Free space counts in the weight up to this.', false, '{panda2026}'),
    ('jedi', 'watchdog', 'PENDING_TIMEOUT_<label>', 'number', '168', 'h', 'How long a task may be pending.', false, '{panda2026}'),
    ('pandaserver', 'prio_mgr', 'CAP_RUNNING_USER_JOBS', 'number', null, 'jobs', 'Running jobs of a user at most, and half of the queued ones; null = no limit.', true, '{documented,panda2026}'),
    ('pandaserver', 'prio_mgr', 'CAP_RUNNING_USER_CORES', 'number', null, 'cores', 'Running cores of a user at most, and half of the queued ones; null = no limit.', true, '{documented,panda2026}'),
    ('pandaserver', 'prio_mgr', 'CAP_RUNNING_GROUP_JOBS', 'number', null, 'jobs', 'Running jobs of a working group at most, and half of the queued ones; null = no limit.', true, '{documented,panda2026}'),
    ('pandaserver', 'prio_mgr', 'CAP_RUNNING_GROUP_CORES', 'number', null, 'cores', 'Running cores of a working group at most, and half of the queued ones; null = no limit.', true, '{documented,panda2026}'),
    ('pandaserver', 'analy_eval', 'USER_USAGE_THRESHOLD_A', 'number', '1000', 'slots', 'Slots up to which a user is in class A.', false, '{documented,panda2026}'),
    ('pandaserver', 'analy_eval', 'USER_USAGE_THRESHOLD_B', 'number', '10000', 'slots', 'Slots up to which a user is in class B.', false, '{documented,panda2026}'),
    ('pandaserver', 'analy_eval', 'PROGRESS_TO_BOOST_A', 'number', '90', 'percent', 'Part of a class A task that is done when it becomes class S.', false, '{documented,panda2026}'),
    ('pandaserver', 'analy_eval', 'PROGRESS_TO_BOOST_B', 'number', '95', 'percent', 'The like for class B.', false, '{documented,panda2026}'),
    ('pandaserver', 'analy_eval', 'MAX_REM_JOBS_TO_BOOST_A', 'number', '500', 'jobs', 'Jobs that a class A task may have left when it becomes class S.', false, '{documented,panda2026}'),
    ('pandaserver', 'analy_eval', 'MAX_REM_JOBS_TO_BOOST_B', 'number', '200', 'jobs', 'The like for class B.', false, '{documented,panda2026}'),
    ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQNR_RATIO', 'number', '3', 'factor', 'Queued per running above which jobs are brokered again.', true, '{documented,panda2026}'),
    ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQUEUE_FRAC', 'number', '0.3', 'fraction', 'Part of all queued jobs of the share above which jobs are brokered again.', true, '{documented,panda2026}'),
    ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQUEUE_<gshare>', 'number', null, 'jobs', 'Queued jobs above which jobs are brokered again; null = never.', false, '{documented,panda2026}'),
    ('pandaserver', 'rebroker', 'ANALY_TIMEOUT', 'number', '12', 'h', 'How long user jobs wait before they are brokered again.', false, '{panda2026}'),
    ('pandaserver', 'rebroker', 'ANALY_TIMEOUT_<group>', 'number', null, 'h', 'The like for a working group; null = ANALY_TIMEOUT.', false, '{panda2026}'),
    ('pandaserver', 'watcher', 'HEARTBEAT_TIMEOUT_<workflow>', 'number', null, 'h', 'How long a job of a workflow may be silent; null = 2.', false, '{documented,panda2026}'),
    ('pandaserver', 'job_timeout', 'TIMEOUT_defined', 'number', '4', 'h', 'How long a job may be defined.', false, '{panda2026}'),
    ('pandaserver', 'job_timeout', 'TIMEOUT_holding', 'number', '48', 'h', 'How long a job may be holding.', false, '{documented,panda2026}')
  ) k (app, component, key, type, default_value, unit, meaning, zero_is_default, profiles);

comment on view resource.config_key is
'The keys of PanDA''s gdpconfig that rules read, with their defaults; resource.set_config refuses others unless forced.';
comment on column resource.config_key.app is 'jedi or pandaserver.';
comment on column resource.config_key.component is 'Component that reads it.';
comment on column resource.config_key.key is 'Key; a part in <> stands for any share, label, workflow or group.';
comment on column resource.config_key.pattern is 'Regular expression that the keys match.';
comment on column resource.config_key.type is 'number, text or boolean.';
comment on column resource.config_key.default_value is 'What holds where nothing is set; null = nothing.';
comment on column resource.config_key.unit is 'Unit.';
comment on column resource.config_key.meaning is 'What it is for.';
comment on column resource.config_key.zero_is_default is 'A value of 0 counts as not set (PanDA''s code).';
comment on column resource.config_key.profiles is 'Profiles that read it.';
