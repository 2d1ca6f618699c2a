create or replace function resource.keys_of_task_brokerage()
returns table (app text, component text, key text, type text, default_value jsonb, unit text, meaning text,
               zero_is_default boolean, profiles text[])
language sql immutable as $$
  select k.app, k.component, k.key, k.type, k.default_value, k.unit, k.meaning, k.zero_is_default, k.profiles::text[]
    from (values
      ('jedi', 'taskbrokerage', 'NQUEUED_NUC_CAP', 'number', '2000'::jsonb, 'files',
       'Maximum number of files queued into a nucleus.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'DISK_THRESHOLD', 'number', '100', 'TB',
       'Space that must be available at a nucleus.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'DISK_THRESHOLD_<gshare>', 'number', null, 'TB',
       'The same for a share; null = DISK_THRESHOLD.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'INPUT_SIZE_THRESHOLD', 'number', '1', 'GB',
       'Input size above which a part of the input must be local.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'INPUT_SIZE_FRACTION', 'number', '10', 'percent',
       'Part of the size that must be local.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'INPUT_NUM_THRESHOLD', 'number', '100', 'files',
       'Number of input files above which a part of them must be local.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'INPUT_NUM_FRACTION', 'number', '10', 'percent',
       'Part of the files that must be local.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'MIN_IO_INTENSITY_WITH_LOCAL_DATA', 'number', '200', 'kB/s',
       'ioIntensity above which local input counts.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'MIN_INPUT_SIZE_WITH_LOCAL_DATA', 'number', '10000', 'GB',
       'Input size above which the input must be local even if no nucleus has it.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'MAX_TASK_PRIO_WITH_LOCAL_DATA', 'number', '800', 'priority',
       'Priority from which locality may be given up.', false, '{documented,panda2026}'),
      ('jedi', 'taskbrokerage', 'DATA_LOCATION_CHECK_PERIOD', 'number', '7', 'days',
       'Time that a task is frozen before it may run without locality.', true, '{panda2026}'),
      ('jedi', 'taskbrokerage', 'FREE_DISK_CUTOFF', 'number', '1000', 'TB',
       'Free space up to which more space gives more weight.', false, '{panda2026}')
    ) k (app, component, key, type, default_value, unit, meaning, zero_is_default, profiles)
$$;

comment on function resource.keys_of_task_brokerage() is
  'Configuration keys of the brokerage of tasks to nuclei, as in resource.config_key.';
