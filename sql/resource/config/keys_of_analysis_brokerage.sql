create or replace function resource.keys_of_analysis_brokerage()
returns table (app text, component text, key text, type text, default_value jsonb, unit text, meaning text,
               zero_is_default boolean, profiles text[])
language sql immutable as $$
  select k.app, k.component, k.key, k.type, k.default_value, k.unit, k.meaning, k.zero_is_default, k.profiles::text[]
    from (values
      ('jedi', 'anal_jobbroker', 'IO_INTENSITY_CUTOFF_USER', 'number', null::jsonb, 'kB/s',
       'ioIntensity up to which locality does not matter; null = it always does.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'TW_DONE_JOB_STAT', 'number', '6', 'h',
       'Time for which ended jobs of a task count.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'MIN_BAD_JOBS_TO_SKIP_PQ', 'number', '5', 'jobs',
       'Number of failed and closed jobs from which a queue counts as bad.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'OVERLOAD_MIN_QUEUE', 'number', '20', 'jobs',
       'Number of queued jobs above which a queue may be overloaded.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'OVERLOAD_RATIO_OFFSET', 'number', '1.2', 'factor',
       'A queue is overloaded if its ratio of queued to running jobs exceeds the grid''s ratio by this factor.', false,
       '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'BASE_QUEUE_LENGTH_PER_PQ', 'number', '100', 'jobs',
       'Number of queued jobs up to which users are not throttled.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'BASE_EXPECTED_WAIT_HOUR_ON_PQ', 'number', '8', 'h',
       'Expected wait up to which users are not throttled.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER', 'number', '5', 'jobs',
       'Number of queued jobs that each user may have.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'BASE_QUEUE_RATIO_ON_PQ', 'number', '0.05', 'fraction',
       'Queued jobs that each user may have, as a fraction of the running jobs.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'STATIC_MAX_QUEUE_RUNNING_RATIO', 'number', '2', 'factor',
       'Queued jobs that all users may have together, per running job.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'MAX_EXPECTED_WAIT_HOUR', 'number', '12', 'h',
       'Expected wait up to which all users together may queue jobs.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'MAX_MISSING_INPUT_FILES', 'number', '10', 'files',
       'Number of files that may be missing in a replica that counts as complete.', false, '{panda2026}'),
      ('jedi', 'anal_jobbroker', 'MIN_INPUT_COMPLETENESS', 'number', '90', 'percent',
       'Percentage of its files with which a replica counts as complete.', false, '{panda2026}'),
      ('jedi', 'anal_jobbroker', 'DATA_CHECK_TIMEOUT_USER', 'number', null, 'h',
       'Time that a task is frozen before it may run without locality; null = never.', false, '{panda2026}'),
      ('jedi', 'anal_jobbroker', 'STORAGE_MIN_FREE_SIZE_OUTPUT', 'number', '200', 'GB',
       'Space that must be available at an output storage.', false, '{panda2026}')
    ) k (app, component, key, type, default_value, unit, meaning, zero_is_default, profiles)
$$;

comment on function resource.keys_of_analysis_brokerage() is
  'Configuration keys of the brokerage of analysis jobs, as in resource.config_key.';
