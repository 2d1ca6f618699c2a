create or replace function resource.keys_of_analysis_brokerage()
returns table (app text, component text, key text, type text, default_value jsonb, unit text, meaning text,
               zero_is_default boolean, profiles text[])
language sql immutable as $$
  select k.app, k.component, k.key, k.type, k.default_value, k.unit, k.meaning, k.zero_is_default, k.profiles::text[]
    from (values
      ('jedi', 'anal_jobbroker', 'IO_INTENSITY_CUTOFF_USER', 'number', null::jsonb, 'kB/s',
       'ioIntensity up to which locality does not matter; null = it always does.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'TW_DONE_JOB_STAT', 'number', '6', 'h', 'How long ended jobs of a task count.', false,
       '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'MIN_BAD_JOBS_TO_SKIP_PQ', 'number', '5', 'jobs',
       'Failed and closed jobs from which a queue is bad.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'OVERLOAD_MIN_QUEUE', 'number', '20', 'jobs',
       'Queued jobs above which a queue may be overloaded.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'OVERLOAD_RATIO_OFFSET', 'number', '1.2', 'factor',
       'Queued per running, against the grid''s, above which a queue is overloaded.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'BASE_QUEUE_LENGTH_PER_PQ', 'number', '100', 'jobs',
       'Queue up to which users are not throttled.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'BASE_EXPECTED_WAIT_HOUR_ON_PQ', 'number', '8', 'h',
       'Expected wait up to which users are not throttled.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER', 'number', '5', 'jobs',
       'Queue that each user may have.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'BASE_QUEUE_RATIO_ON_PQ', 'number', '0.05', 'fraction',
       'Queue that each user may have, of the running jobs.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'STATIC_MAX_QUEUE_RUNNING_RATIO', 'number', '2', 'factor',
       'Queue that all users may have, by the running jobs.', false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'MAX_EXPECTED_WAIT_HOUR', 'number', '12', 'h',
       'Expected wait that all users may have.',
       false, '{documented,panda2026}'),
      ('jedi', 'anal_jobbroker', 'MAX_MISSING_INPUT_FILES', 'number', '10', 'files',
       'Files that a replica may miss and count as complete.', false, '{panda2026}'),
      ('jedi', 'anal_jobbroker', 'MIN_INPUT_COMPLETENESS', 'number', '90', 'percent',
       'Part of its files with which a replica counts as complete.', false, '{panda2026}'),
      ('jedi', 'anal_jobbroker', 'DATA_CHECK_TIMEOUT_USER', 'number', null, 'h',
       'How long a task is frozen before it may run without locality; null = never.', false, '{panda2026}'),
      ('jedi', 'anal_jobbroker', 'STORAGE_MIN_FREE_SIZE_OUTPUT', 'number', '200', 'GB',
       'Space that an output storage needs.', false, '{panda2026}')
    ) k (app, component, key, type, default_value, unit, meaning, zero_is_default, profiles)
$$;

comment on function resource.keys_of_analysis_brokerage() is
  'Configuration keys of the brokerage of analysis jobs, as in resource.config_key.';
