-- The view judges settings of the server, the database and the roles that cost jobs or time here. Each setting matters
-- for durability, or by measurement (broker/settings.py says which settings the embedded server has, and why). Settings
-- that made no difference to match_job and finish_job on PostgreSQL 15 and 18 (medians of 400 calls) are left out: jit
-- (the plans cost at most 300, and it begins at 100,000), track_functions, plan_cache_mode.
create or replace view monitor.health_setting as
with rule (name, good, at_least, at_most, wanted, verdict, cost) as (
  values
  ('fsync', array['on'], null::float8, null::float8, 'on', 'problem',
   'the database may be beyond repair after a crash of the machine: all jobs are lost'),
  ('full_page_writes', array['on'], null, null, 'on', 'problem',
   'a page that was half written at a crash stays broken: jobs are lost, or the server does not start'),
  ('synchronous_commit', array['on', 'local', 'remote_write', 'remote_apply'], null, null, 'on', 'problem',
   'a crash undoes the last matches and ends of jobs: a running job is handed out again'),
  ('default_transaction_isolation', array['read committed'], null, null, 'read committed', 'problem',
   'calls that match, insert or return jobs are refused (PB001)'),
  ('default_transaction_read_only', array['off'], null, null, 'off', 'problem', 'no job can be inserted or matched'),
  ('autovacuum', array['on'], null, null, 'on', 'problem',
   'tables grow, statistics get stale (a match with wrong statistics takes 6 ms instead of 0.5), '
   'and matches scan dead rows'),
  ('track_counts', array['on'], null, null, 'on', 'problem',
   'autovacuum cannot tell which tables to clean, as if it were off'),
  -- measured: 0.34 ms per match, 0.47 ms after 90,000 matches without a vacuum
  ('autovacuum_naptime', null, null, 15, '10s', 'advice',
   '1,000 matches a second leave 60,000 dead rows in each queue table after a minute: a match takes a quarter longer'),
  -- jobs and changes of counts have no delay in any case; leases, requests and the history use the setting
  ('autovacuum_vacuum_cost_delay', null, null, 2, '0', 'advice',
   'vacuum sleeps more than it works: leases and requests leave dead rows faster than it removes them'),
  ('client_connection_check_interval', null, 1, 60000, '1s', 'advice',
   'the statement of a killed client runs to its end and keeps its locks: others wait in vain'),
  ('max_wal_size', null, 2048, null, '4GB', 'advice',
   'a checkpoint happens every few minutes under load, and each page of the queues is written in full after '
   'each checkpoint'),
  ('checkpoint_timeout', null, 600, null, '15min', 'advice',
   'a checkpoint happens every few minutes, and each page of the queues is written in full after each checkpoint'),
  ('wal_compression', array['on', 'pglz', 'lz4', 'zstd'], null, null, 'on', 'advice',
   'the pages of the queues are written to the log without compression after each checkpoint'),
  -- a line costs no measurable time, but a thousand calls write a thousand lines, and an attempt proves a lease
  ('log_statement', array['none', 'ddl', 'mod'], null, null, 'none', 'advice',
   'each call writes a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret'),
  ('log_duration', array['off'], null, null, 'off', 'advice',
   'each call writes a line: 10 GB a day at 1,000 calls a second'),
  ('log_min_duration_statement', array['-1'], 10, null, '-1', 'advice',
   'each call writes a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret')
), given (name, role_name, database_id, value) as (
  select s.name, null::name, null::oid, s.setting from pg_settings s
   union all
  -- settings of roles other than the current one
  select split_part(c.entry, '=', 1), o.rolname, r.setdatabase, substr(c.entry, strpos(c.entry, '=') + 1)
    from pg_db_role_setting r
    join pg_roles o on o.oid = r.setrole and o.rolname <> current_user
   cross join unnest(r.setconfig) c (entry)
   where r.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))
     and exists (select from resource.installation_role h
                   join pg_roles m on m.rolname = h.role_name
                  where pg_has_role(o.oid, m.oid, 'member'))
), judged as (
  select s.name, g.role_name, g.database_id, s.context, s.source, r.wanted, r.cost,
         case when g.role_name is null then current_setting(s.name) else g.value end as value,
         case when v.value = any (r.good) or (r.at_least is not null or r.at_most is not null)
                   and v.value::float8 between coalesce(r.at_least, '-infinity') and coalesce(r.at_most, 'infinity')
              then 'ok'
              else r.verdict end as verdict
    from rule r
    join pg_settings s on s.name = r.name
    join given g on g.name = r.name and (g.role_name is null or r.good is not null and s.vartype in ('bool', 'enum'))
   cross join lateral (
     select case when s.vartype <> 'bool' and lower(g.value) not in ('off', 'false', 'no') then g.value
                 when lower(g.value) in ('off', 'false', 'no', '0') then 'off' else 'on' end as value) v
)
select 'setting' as area, j.name || coalesce(' of role ' || j.role_name, '') as object, j.value, j.verdict,
       case when j.verdict <> 'ok' then j.cost end as cost,
       case when j.verdict = 'ok' then null
            when j.role_name is not null and j.database_id <> 0
            then format('alter role %I in database %I reset %s', j.role_name, current_database(), j.name)
            when j.role_name is not null then format('alter role %I reset %s', j.role_name, j.name)
            when j.source = 'database' then format('alter database %I reset %s', current_database(), j.name)
            when j.source = 'user' then format('alter role %I reset %s', current_user, j.name)
            when j.source = 'database user'
            then format('alter role %I in database %I reset %s', current_user, current_database(), j.name)
            when j.source in ('session', 'client', 'environment variable')
            then 'it is set in this session alone: look at PGOPTIONS and the DSN'
            when j.source = 'command line' then format('take it off the command line that starts the server, '
                                                       'then alter system set %s = %L', j.name, j.wanted)
            else format('alter system set %s = %L, then ', j.name, j.wanted)
                 || case j.context when 'postmaster' then 'restart the server'
                                   else 'select pg_reload_conf()' end end as remedy
  from judged j;

comment on view monitor.health_setting is
  'Settings that cost jobs or time, as they are for the current user, and as they are set for roles that use pgbroker. '
  'Part of monitor.health.';
comment on column monitor.health_setting.area is 'Area of the finding: setting.';
comment on column monitor.health_setting.object is
  'Name of the setting, and of the role if the setting is that of a role.';
