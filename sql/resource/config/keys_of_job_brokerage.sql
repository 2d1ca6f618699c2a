create or replace function resource.keys_of_job_brokerage()
returns table (app text, component text, key text, type text, default_value jsonb, unit text, meaning text,
               zero_is_default boolean, profiles text[])
language sql immutable as $$
  select k.app, k.component, k.key, k.type, k.default_value, k.unit, k.meaning, k.zero_is_default, k.profiles::text[]
    from (values
      ('jedi', 'jobbroker', 'NQUEUED_SAT_CAP', 'number', '150'::jsonb, 'files',
       'Maximum number of files queued on a link to the nucleus.', false, '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'NQUEUED_NUC_CAP_FOR_JOBS', 'number', '10000', 'files',
       'Maximum number of files queued into a nucleus.', false, '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'IO_INTENSITY_CUTOFF', 'number', '200', 'kB/s',
       'ioIntensity above which input must be local.', false, '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'SIZE_CUTOFF_TO_MOVE_INPUT', 'number', '10', 'GB',
       'Maximum missing input that may be moved although input must be local.', false, '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'NUM_CUTOFF_TO_MOVE_INPUT', 'number', '100', 'files',
       'Maximum number of missing files that may be moved although input must be local.', false,
       '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'MAX_DISKIO_DEFAULT', 'number', null, 'kB/s per core',
       'Maximum diskIO of a queue that has no maxdiskio.', true, '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'NW_THRESHOLD', 'number', '1.7', 'factor',
       'Least network weight of a queue for express jobs.', false, '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'NW_WEIGHT_MULTIPLIER', 'number', '1', 'factor', 'Multiplies NW_THRESHOLD.', false,
       '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'NW_ACTIVE', 'boolean', 'false', 'true or false', 'Whether the network weight counts.',
       false, '{panda2026}'),
      ('jedi', 'jobbroker', 'NW_QUEUE_IMPORTANCE', 'number', '0.5', 'fraction',
       'Part that queued files have in the network weight; the rest is throughput.', false, '{panda2026}'),
      ('jedi', 'jobbroker', 'STORAGE_MIN_FREE_SIZE', 'number', '200', 'GB',
       'Space that must be available at an output storage (in the second pass of analysis, at an input storage).', true,
       '{panda2026}'),
      ('jedi', 'jobbroker', 'MAX_MISSING_INPUT_FILES', 'number', '10', 'files',
       'Number of files that may be missing in a replica that counts as complete.', false, '{panda2026}'),
      ('jedi', 'jobbroker', 'MIN_INPUT_COMPLETENESS', 'number', '90', 'percent',
       'Percentage of its files with which a replica counts as complete.', false, '{panda2026}'),
      ('jedi', 'jobbroker', 'MAX_PRIO_TO_BOOTSTRAP', 'number', '150', 'priority',
       'Priority up to which idle queues are tried, and slots and workers are taken into account.', false,
       '{panda2026}'),
      ('jedi', 'jobbroker', 'NQUEUELIMITSITE_<gshare>', 'number', '20', 'jobs',
       'Number of queued jobs that a queue may have, however few jobs run there.', true, '{documented,panda2026}'),
      ('jedi', 'jobbroker', 'MIN_WEIGHT_<label>', 'number', '0', 'weight', 'Least weight of a queue.',
       false, '{panda2026}'),
      ('jedi', 'jobbroker', 'MIN_WEIGHT_<label>_<gshare>', 'number', null, 'weight',
       'The same for a share; null = MIN_WEIGHT_<label>.', false, '{panda2026}'),
      ('jedi', 'core', 'WORK_SHORTAGE', 'boolean', 'false', 'true or false', 'Whether only pledged cores are used.',
       false, '{panda2026}')
    ) k (app, component, key, type, default_value, unit, meaning, zero_is_default, profiles)
$$;

comment on function resource.keys_of_job_brokerage() is
  'Configuration keys of the brokerage of production jobs, as in resource.config_key.';
