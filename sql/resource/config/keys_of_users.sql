create or replace function resource.keys_of_users()
returns table (app text, component text, key text, type text, default_value jsonb, unit text, meaning text,
               zero_is_default boolean, profiles text[])
language sql immutable as $$
  select k.app, k.component, k.key, k.type, k.default_value, k.unit, k.meaning, k.zero_is_default, k.profiles::text[]
    from (values
      ('pandaserver', 'prio_mgr', 'CAP_RUNNING_USER_JOBS', 'number', null::jsonb, 'jobs',
       'Maximum number of a user''s running jobs; twice as many may be queued; null = no limit.', true,
       '{documented,panda2026}'),
      ('pandaserver', 'prio_mgr', 'CAP_RUNNING_USER_CORES', 'number', null, 'cores',
       'Maximum number of cores of a user''s running jobs; twice as many may be queued; null = no limit.', true,
       '{documented,panda2026}'),
      ('pandaserver', 'prio_mgr', 'CAP_RUNNING_GROUP_JOBS', 'number', null, 'jobs',
       'Maximum number of a working group''s running jobs; twice as many may be queued; null = no limit.', true,
       '{documented,panda2026}'),
      ('pandaserver', 'prio_mgr', 'CAP_RUNNING_GROUP_CORES', 'number', null, 'cores',
       'Maximum number of cores of a working group''s running jobs; twice as many may be queued; null = no limit.',
       true, '{documented,panda2026}'),
      ('pandaserver', 'analy_eval', 'USER_USAGE_THRESHOLD_A', 'number', '1000', 'slots',
       'Number of slots up to which a user is in class A.', false, '{documented,panda2026}'),
      ('pandaserver', 'analy_eval', 'USER_USAGE_THRESHOLD_B', 'number', '10000', 'slots',
       'Number of slots up to which a user is in class B.', false, '{documented,panda2026}'),
      ('pandaserver', 'analy_eval', 'PROGRESS_TO_BOOST_A', 'number', '90', 'percent',
       'Part of a class A task that must be done before it becomes class S.', false, '{documented,panda2026}'),
      ('pandaserver', 'analy_eval', 'PROGRESS_TO_BOOST_B', 'number', '95', 'percent', 'The same for class B.', false,
       '{documented,panda2026}'),
      ('pandaserver', 'analy_eval', 'MAX_REM_JOBS_TO_BOOST_A', 'number', '500', 'jobs',
       'Number of jobs that a class A task may have left when it becomes class S.', false, '{documented,panda2026}'),
      ('pandaserver', 'analy_eval', 'MAX_REM_JOBS_TO_BOOST_B', 'number', '200', 'jobs', 'The same for class B.', false,
       '{documented,panda2026}')
    ) k (app, component, key, type, default_value, unit, meaning, zero_is_default, profiles)
$$;

comment on function resource.keys_of_users() is
  'Configuration keys of limits of users and groups, and of the classes of analysis tasks, as in resource.config_key.';
