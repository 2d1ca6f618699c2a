create or replace function resource.keys_of_timeouts()
returns table (app text, component text, key text, type text, default_value jsonb, unit text, meaning text,
               zero_is_default boolean, profiles text[])
language sql immutable as $$
  select k.app, k.component, k.key, k.type, k.default_value, k.unit, k.meaning, k.zero_is_default, k.profiles::text[]
    from (values
      ('jedi', 'watchdog', 'PENDING_TIMEOUT_<label>', 'number', '168'::jsonb, 'h',
       'No rule reads it. JEDI gives up a task that was pending for longer.', false, '{panda2026}'),
      ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQNR_RATIO', 'number', '3', 'factor',
       'Ratio of queued to running jobs above which jobs are brokered again.', true, '{documented,panda2026}'),
      ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQUEUE_FRAC', 'number', '0.3', 'fraction',
       'A queue''s part of all queued jobs of the share above which jobs are brokered again.', true,
       '{documented,panda2026}'),
      ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQUEUE_<gshare>', 'number', null, 'jobs',
       'Number of queued jobs above which jobs are brokered again; null = never.', false, '{documented,panda2026}'),
      ('pandaserver', 'rebroker', 'ANALY_TIMEOUT', 'number', '12', 'h',
       'Time that user jobs wait before they are brokered again.', false, '{panda2026}'),
      ('pandaserver', 'rebroker', 'ANALY_TIMEOUT_<group>', 'number', null, 'h',
       'The same for a working group; null = ANALY_TIMEOUT.', false, '{panda2026}'),
      ('pandaserver', 'watcher', 'HEARTBEAT_TIMEOUT_<workflow>', 'number', null, 'h',
       'Maximum time without a heartbeat of a job of the workflow; null = the setting heartbeat_time (in documented, '
       'transferring jobs have no limit then).', false, '{documented,panda2026}'),
      ('pandaserver', 'job_timeout', 'TIMEOUT_defined', 'number', '4', 'h', 'Maximum time that a job may be defined.',
       false, '{panda2026}'),
      ('pandaserver', 'job_timeout', 'TIMEOUT_holding', 'number', '48', 'h',
       'Maximum time that a job may be holding.', false, '{documented,panda2026}')
    ) k (app, component, key, type, default_value, unit, meaning, zero_is_default, profiles)
$$;

comment on function resource.keys_of_timeouts() is
  'Configuration keys of timeouts and rebrokerage, as in resource.config_key.';
