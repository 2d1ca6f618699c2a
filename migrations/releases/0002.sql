-- release: 0.1.0
-- file: monitor/health.sql
-- after: monitor.health_setting, monitor.health_session, monitor.health_snapshot, monitor.health_table, monitor.health_work
-- What `broker doctor` shows.
create or replace view monitor.health as
select f.area, f.object, f.value, f.verdict, f.cost, f.remedy
  from (select * from monitor.health_setting
        union all
        select * from monitor.health_snapshot
        union all
        select * from monitor.health_session
        union all
        select * from monitor.health_table
        union all
        select * from monitor.health_work
        union all
        -- least privilege: everything else is seen without it
        select 'rights', 'pg_read_all_stats', 'lacking', 'advice',
               'sessions of other users are seen by process id and transactions only, not since when, in which state, or whether left open',
               format('grant pg_read_all_stats to %I, which also shows their queries; or look as a superuser', current_user)
         where not pg_has_role(current_user, 'pg_read_all_stats', 'usage')) f
 order by array_position(array['problem', 'advice', 'ok'], f.verdict), f.area, f.object;

comment on view monitor.health is
'What on this server holds matching back and what to do about it, one row a finding, problems first; `broker doctor` prints it. problem: jobs can be lost, or matching suffers now. advice: it will, or could be faster.';
comment on column monitor.health.area is 'setting, snapshot, slot, lock, open call, connection, bloat, statistics, autovacuum, trigger, transaction ids, maintenance, history or rights.';
comment on column monitor.health.object is 'What was looked at.';
comment on column monitor.health.value is 'What was found.';
comment on column monitor.health.verdict is 'ok, advice or problem.';
comment on column monitor.health.cost is 'What it costs; null where it is ok.';
comment on column monitor.health.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_session.sql
-- Who is connected, waits or leaves transactions open, and how much is committed. Without pg_read_all_stats nobody sees whether another user's
-- session is idle in its transaction: then nothing is said about it.
create or replace view monitor.health_session as
with here (database_id, sees_all) as (
  select d.oid, pg_has_role(current_user, 'pg_read_all_stats', 'usage') from pg_database d where d.datname = current_database()
), session as (
  select a.pid, coalesce(a.usename, 'the server') as usename, a.state, a.state_change, a.datid as database_id
    from pg_stat_activity a
    join here h on h.database_id = a.datid
   where a.pid <> pg_backend_pid()
), waiting as (
  select s.pid, s.usename, l.locktype, l.relation, clock_timestamp() - l.waitstart as waits
    from pg_locks l
    join session s on s.pid = l.pid
   where not l.granted and l.waitstart < clock_timestamp() - interval '3 seconds'
), left_open as (
  select s.pid, s.usename, clock_timestamp() - s.state_change as idle
    from session s
   where s.state like 'idle in transaction%' and s.state_change < clock_timestamp() - interval '3 seconds'
     and exists (select from pg_locks l where l.pid = s.pid and l.locktype = 'advisory' and l.granted and l.database = s.database_id)
), connected as (
  select sum(d.numbackends) as used,
         (select sum(case s.name when 'max_connections' then 1 else -1 end * s.setting::int) from pg_settings s
           where s.name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) as free
    from pg_stat_database d
), traffic as (
  select d.sessions, d.xact_commit as commits,
         d.xact_commit / greatest(extract(epoch from now() - coalesce(d.stats_reset, b.stats_reset)), 1) as commits_per_second
    from pg_stat_database d
   cross join pg_stat_bgwriter b
   where d.datname = current_database()
)
select 'lock' as area, format('session %s of %s', w.pid, w.usename) as object,
       format('waits %s for %s', date_trunc('second', w.waits), coalesce(w.relation::regclass::text, w.locktype)) as value, 'problem' as verdict,
       'no call of an agent waits that long for another; what changes limits or CPU buckets gives up with PB006' as cost,
       format('look at what holds it: select * from pg_stat_activity where pid = any (pg_blocking_pids(%s))', w.pid) as remedy
  from waiting w
 union all
select 'lock', 'sessions that wait for one', '0', 'ok', null, null where not exists (select from waiting)
 union all
select 'open call', format('session %s of %s', o.pid, o.usename), format('idle in its transaction for %s', date_trunc('second', o.idle)), 'advice',
       'limits that it counts at look reached, and set_limit and set_cpu_buckets fail with PB006 until it ends',
       format('commit after each call; to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s''', o.usename)
  from left_open o
 union all
select 'open call', 'transactions left open', '0', 'ok', null, null from here h where h.sees_all and not exists (select from left_open)
 union all
select 'connection', 'connections', format('%s of %s', c.used, c.free), v.verdict,
       case when v.verdict <> 'ok' then 'agents are refused when there is none left' end,
       case when v.verdict <> 'ok' then 'put PgBouncer in transaction mode before the server: few connections serve many agents, and better' end
  from connected c
 cross join lateral (select case when c.used >= 0.95 * c.free then 'problem' when c.used >= 0.8 * c.free then 'advice' else 'ok' end as verdict) v
 union all
-- measured: the first match of a connection takes 10 ms, the following 0.8
select 'connection', 'calls a connection', format('%s transactions in %s connections', t.commits, t.sessions), v.verdict,
       case when v.verdict <> 'ok' then 'a connection reads the catalogue and plans anew: its first match takes 10 times as long as the following' end,
       case when v.verdict <> 'ok' then 'keep connections open between calls (JobAgent does), or put PgBouncer in transaction mode before the server' end
  from traffic t
 cross join lateral (select case when t.sessions >= 200 and t.commits < 10 * t.sessions then 'advice' else 'ok' end as verdict) v
 union all
-- measured: 8,200 matches/s, and 12,100 with commit_delay = 100 us; with fewer commits there is nobody to wait for
select 'setting', 'commit_delay', format('%s us at %s transactions/s', s.setting, round(t.commits_per_second)), v.verdict,
       case when v.verdict <> 'ok' then 'each commit waits for the disk alone: many clients that commit at a time get up to a half more done with a delay' end,
       case when v.verdict <> 'ok' then 'alter system set commit_delay = 100, then select pg_reload_conf(); try it, and compare' end
  from traffic t
  join pg_settings s on s.name = 'commit_delay'
 cross join lateral (select case when s.setting = '0' and t.commits >= 1000 and t.commits_per_second >= 500 then 'advice' else 'ok' end as verdict) v;

comment on view monitor.health_session is
'Waits for locks, transactions left open, connections, commits. Part of monitor.health.';
comment on column monitor.health_session.area is 'lock, open call, connection or setting.';
comment on column monitor.health_session.object is 'Session, or what was looked at.';
comment on column monitor.health_session.value is 'What was found.';
comment on column monitor.health_session.verdict is 'ok, advice or problem.';
comment on column monitor.health_session.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_session.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_setting.sql
-- Settings of the server, the database and the roles that cost jobs or time here. Each was seen to matter: for durability, or by measurement
-- (broker/settings.py says what the embedded server sets and why). Seen to make no difference to match_job and finish_job on PostgreSQL 15 and 18
-- (medians of 400 calls), so not here: jit (their plans cost 300 at most, and 100,000 is where it begins), track_functions, plan_cache_mode.
create or replace view monitor.health_setting as
with rule (name, good, at_least, at_most, wanted, verdict, cost) as (
  values
  ('fsync', array['on'], null::float8, null::float8, 'on', 'problem',
   'after a crash of the machine the database may be beyond repair: all jobs are lost'),
  ('full_page_writes', array['on'], null, null, 'on', 'problem',
   'a page that a crash left half written stays so: jobs are lost, or the server does not start'),
  ('synchronous_commit', array['on', 'local', 'remote_write', 'remote_apply'], null, null, 'on', 'problem',
   'a crash takes back the last matches and ends: a job that is at work is handed out again'),
  ('default_transaction_isolation', array['read committed'], null, null, 'read committed', 'problem',
   'calls that match, insert or return jobs are refused (PB001)'),
  ('default_transaction_read_only', array['off'], null, null, 'off', 'problem', 'no job can be inserted or matched'),
  ('autovacuum', array['on'], null, null, 'on', 'problem',
   'tables grow, statistics get stale (a match by wrong ones takes 6 ms instead of 0.5), and matches walk over dead rows'),
  ('track_counts', array['on'], null, null, 'on', 'problem', 'autovacuum does not learn what to clean, as if it were off'),
  -- measured: 0.34 ms a match, 0.47 after 90,000 matches without a vacuum
  ('autovacuum_naptime', null, null, 15, '10s', 'advice', 'at 1,000 matches a second 60,000 rows of each queue table are dead after a minute: a match takes a quarter longer'),
  -- jobs and the changes of counts have none whatever it says; leases, requests and the history go by it
  ('autovacuum_vacuum_cost_delay', null, null, 2, '0', 'advice', 'cleaning sleeps more than it works: leases and requests leave dead rows faster than it takes them away'),
  ('max_wal_size', null, 2048, null, '4GB', 'advice', 'a checkpoint comes every few minutes under load, and after each the whole of each page of the queues is written again'),
  ('checkpoint_timeout', null, 600, null, '15min', 'advice', 'a checkpoint comes every few minutes, and after each the whole of each page of the queues is written again'),
  ('wal_compression', array['on', 'pglz', 'lz4', 'zstd'], null, null, 'on', 'advice', 'the pages of the queues are written to the log as they are, after each checkpoint'),
  -- a line costs no measurable time, but a thousand calls a second write a thousand of them, and the attempt is what proves a lease
  ('log_statement', array['none', 'ddl', 'mod'], null, null, 'none', 'advice', 'each call is a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret'),
  ('log_duration', array['off'], null, null, 'off', 'advice', 'each call is a line: 10 GB a day at 1,000 calls a second'),
  ('log_min_duration_statement', array['-1'], 10, null, '-1', 'advice', 'each call is a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret')
), given (name, role_name, database_id, value) as (
  select s.name, null::name, null::oid, s.setting from pg_settings s
   union all
  -- what others than the one who looks have set for them
  select split_part(c.entry, '=', 1), o.rolname, r.setdatabase, substr(c.entry, strpos(c.entry, '=') + 1)
    from pg_db_role_setting r
    join pg_roles o on o.oid = r.setrole and o.rolname <> current_user
   cross join unnest(r.setconfig) c (entry)
   where r.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))
     and exists (select from resource.house_role h join pg_roles m on m.rolname = h.role_name where pg_has_role(o.oid, m.oid, 'member'))
), judged as (
  select s.name, g.role_name, g.database_id, s.context, s.source, r.wanted, r.cost,
         case when g.role_name is null then current_setting(s.name) else g.value end as value,
         case when v.value = any (r.good) or (r.at_least is not null or r.at_most is not null)
                   and v.value::float8 between coalesce(r.at_least, '-infinity') and coalesce(r.at_most, 'infinity') then 'ok'
              else r.verdict end as verdict
    from rule r
    join pg_settings s on s.name = r.name
    join given g on g.name = r.name and (g.role_name is null or r.good is not null and s.vartype in ('bool', 'enum'))
   cross join lateral (select case when s.vartype <> 'bool' and lower(g.value) not in ('off', 'false', 'no') then g.value
                                   when lower(g.value) in ('off', 'false', 'no', '0') then 'off' else 'on' end as value) v
)
select 'setting' as area, j.name || coalesce(' of role ' || j.role_name, '') as object, j.value, j.verdict,
       case when j.verdict <> 'ok' then j.cost end as cost,
       case when j.verdict = 'ok' then null
            when j.role_name is not null and j.database_id <> 0 then format('alter role %I in database %I reset %s', j.role_name, current_database(), j.name)
            when j.role_name is not null then format('alter role %I reset %s', j.role_name, j.name)
            when j.source = 'database' then format('alter database %I reset %s', current_database(), j.name)
            when j.source = 'user' then format('alter role %I reset %s', current_user, j.name)
            when j.source = 'database user' then format('alter role %I in database %I reset %s', current_user, current_database(), j.name)
            when j.source in ('session', 'client', 'environment variable') then 'set in this session alone: look at PGOPTIONS and the DSN'
            when j.source = 'command line' then format('take it off the command line that starts the server, then alter system set %s = %L', j.name, j.wanted)
            else format('alter system set %s = %L, then ', j.name, j.wanted)
                 || case j.context when 'postmaster' then 'restart the server' else 'select pg_reload_conf()' end end as remedy
  from judged j;

comment on view monitor.health_setting is
'Settings that cost jobs or time, as they are for who looks, and as they are set for roles that use pgbroker. Part of monitor.health.';
comment on column monitor.health_setting.area is 'setting.';
comment on column monitor.health_setting.object is 'Name of the setting, and of the role where it is the role''s own.';
comment on column monitor.health_setting.value is 'Its value.';
comment on column monitor.health_setting.verdict is 'ok, advice or problem.';
comment on column monitor.health_setting.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_setting.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_snapshot.sql
-- What keeps deleted rows from being cleaned. Process ids and transaction ids are seen by everybody, times and states of other users' sessions
-- by members of pg_read_all_stats only; so the verdict goes by transactions, which is also what an old snapshot costs.
create or replace view monitor.health_snapshot as
with session as (
  select a.pid, a.datid, a.usename, a.state, a.xact_start, a.backend_xid, a.backend_xmin, a.application_name, d.oid as database_id
    from pg_stat_activity a
    join pg_database d on d.datname = current_database()
   where a.pid <> pg_backend_pid()
), holder (object, transactions, since, detail, remedy) as (
  -- Another database's session holds this one's dead rows when it has written: each new snapshot reaches back to it. A vacuum never does.
  select case when s.datid is null then format('process %s for standby %s', s.pid, s.application_name) else format('session %s of %s', s.pid, coalesce(s.usename, 'the server')) end,
         greatest(age(s.backend_xmin), age(s.backend_xid)), s.xact_start, s.state,
         case when s.datid is null then 'end the long query on the standby, or set hot_standby_feedback = off there'
              when s.usename is null then format('select pg_terminate_backend(%s)', s.pid)  -- autovacuum's, or its role was dropped
              else format('select pg_terminate_backend(%s); to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s''', s.pid, s.usename) end
    from session s
   where coalesce(s.backend_xmin, s.backend_xid) is not null
     and (s.datid is null or s.datid = s.database_id or s.backend_xid is not null)
     and s.pid not in (select p.pid from pg_stat_progress_vacuum p)
   union all
  select format('prepared transaction %s', p.gid), age(p.transaction), p.prepared, p.owner,
         format('in database %I: commit prepared %L, or rollback prepared %L', p.database, p.gid, p.gid)
    from pg_prepared_xacts p
   union all
  select format('replication slot %s', r.slot_name), age(r.xmin), null, case when r.active then 'active' else 'inactive' end,
         format('start its standby, or select pg_drop_replication_slot(%L)', r.slot_name)
    from pg_replication_slots r
   where r.xmin is not null
), snapshot as (
  -- Matching itself looks past what was taken (taskqueue.job_count.first_ids); what grows is what vacuum may not clean.
  select h.*, case when h.transactions >= 100000 then 'problem' when h.transactions >= 10000 then 'advice' else 'ok' end as verdict,
         row_number() over (order by h.transactions desc, h.object) as place
    from holder h
)
select 'snapshot' as area, s.object,
       concat_ws(', ', s.transactions || ' transactions', date_trunc('second', clock_timestamp() - s.since), s.detail) as value, s.verdict,
       case when s.verdict <> 'ok' then 'rows deleted since then cannot be cleaned: tables and indexes grow with every match' end as cost,
       case when s.verdict <> 'ok' then s.remedy end as remedy
  from snapshot s
 where s.place = 1 or s.verdict <> 'ok'
 union all
select 'snapshot', 'oldest transaction', 'none', 'ok', null, null where not exists (select from snapshot)
 union all
select 'slot', r.slot_name, 'inactive', 'advice', 'all WAL since it was last used is kept, until the disk is full and the server stops',
       format('start what reads it, or select pg_drop_replication_slot(%L)', r.slot_name)
  from pg_replication_slots r
 where not r.active and r.restart_lsn is not null;

comment on view monitor.health_snapshot is
'Old snapshots: of sessions, prepared transactions, replication slots and standbys; and slots that nobody reads. Part of monitor.health.';
comment on column monitor.health_snapshot.area is 'snapshot or slot.';
comment on column monitor.health_snapshot.object is 'Session, prepared transaction or slot.';
comment on column monitor.health_snapshot.value is 'What was found.';
comment on column monitor.health_snapshot.verdict is 'ok, advice or problem.';
comment on column monitor.health_snapshot.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_snapshot.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_table.sql
-- The tables of the room taskqueue as the server sees them. Tables are found in the catalogue, not named one by one, except those that a match reads.
create or replace view monitor.health_table as
with relation as (
  select c.oid, c.relname as name, c.relkind as kind, c.reltuples, c.reloptions, c.relowner, pg_relation_size(c.oid) as bytes, i.indrelid as table_id
    from pg_class c
    left join pg_index i on i.indexrelid = c.oid
   where c.relnamespace = 'taskqueue'::regnamespace and c.relkind in ('r', 'i')
), hot as (
  select r.* from relation r
   where r.kind = 'r' and r.name in ('definition', 'task_queue', 'posting_list', 'posting', 'known_offer', 'job', 'job_count', 'job_count_change', 'lease', 'limit_slot')
), used as (
  select s.relid, s.relname as name, s.n_live_tup as live, s.n_dead_tup as dead, greatest(s.last_vacuum, s.last_autovacuum) as cleaned,
         coalesce(s.last_analyze, s.last_autoanalyze) is null as never_analyzed,
         case when s.n_dead_tup < 50000 or s.n_dead_tup <= s.n_live_tup then 'ok' when s.n_dead_tup < 500000 then 'advice' else 'problem' end as verdict
    from pg_stat_user_tables s
   where s.schemaname = 'taskqueue'
), swollen as (
  -- rows and index entries of these tables take 60 to 200 bytes
  select r.name, r.kind, r.bytes, u.live
    from relation r
    join hot t on t.oid = coalesce(r.table_id, r.oid) and t.name not in ('definition', 'task_queue')
    join used u on u.relid = t.oid
   where r.bytes >= 16 * 1024 ^ 2 and r.bytes > 1000 * u.live
), memory as (
  select (select sum(pg_total_relation_size(h.oid)) from hot h) as needed, s.setting::bigint * 8192 as given
    from pg_settings s where s.name = 'shared_buffers'
)
-- measured: 0.34 ms a match, 0.47 after 90,000 matches without a vacuum
select 'bloat' as area, 'table ' || u.name as object,
       format('%s dead rows, %s live, last cleaned %s', u.dead, u.live, coalesce(date_trunc('second', u.cleaned)::text, 'never')) as value, u.verdict,
       'matches walk over them: a third longer for each 100,000' as cost,
       format('vacuum taskqueue.%I; where they stay, an old snapshot holds them; where they come back, let autovacuum run more often', u.name) as remedy
  from used u
 where u.verdict <> 'ok'
 union all
select 'bloat', 'dead rows', format('%s at most, in table %s', u.dead, u.name), 'ok', null, null
  from (select * from used order by dead desc, name limit 1) u
 where u.verdict = 'ok' and not exists (select from used o where o.verdict <> 'ok')
 union all
select 'bloat', case w.kind when 'i' then 'index ' else 'table ' end || w.name, format('%s for %s rows', pg_size_pretty(w.bytes), w.live), 'advice',
       'it takes memory from the rows that matches read, and cleaning reads all of it',
       case w.kind when 'i' then format('reindex index concurrently taskqueue.%I', w.name)
            else format('vacuum (full, analyze) taskqueue.%I, while no agents work: it locks the table', w.name) end
  from swollen w
 union all
select 'bloat', 'size of tables and indexes', 'as their rows need', 'ok', null, null where not exists (select from swollen)
 union all
-- measured: a match takes 6 ms instead of 0.5 (taskqueue.refresh_statistics)
select 'statistics', 'table ' || h.name, 'never analyzed', 'advice', 'the planner takes a setup for a selective key: a match takes 6 ms instead of 0.5',
       format('analyze taskqueue.%I, or select taskqueue.refresh_statistics()', h.name)
  from hot h
  join used u on u.relid = h.oid
 where h.reltuples < 0 and u.never_analyzed and h.bytes >= 64 * 1024
 union all
select 'autovacuum', 'table ' || r.name, 'switched off', 'problem', 'it grows, and its statistics get stale: a match by wrong ones takes 6 ms instead of 0.5',
       format('alter table taskqueue.%I reset (autovacuum_enabled)', r.name)
  from relation r
 where r.kind = 'r' and exists (select from pg_options_to_table(r.reloptions) o
                                 where o.option_name = 'autovacuum_enabled' and lower(o.option_value) in ('off', 'false', 'no', '0'))
 union all
-- measured: NOTIFY in a trigger leaves 150 commits/s of 4,700, a counter kept by a row trigger makes bulk inserts 6 times slower
select 'trigger', format('%s on %s', t.tgname, r.name), format('calls %s', t.tgfoid::regproc), 'advice',
       'it runs inside each call that writes the table: it slows matches down, and an error in it fails them',
       format('drop trigger %I on taskqueue.%I, and let one background process read what it told', t.tgname, r.name)
  from pg_trigger t
  join relation r on r.oid = t.tgrelid
  join pg_proc p on p.oid = t.tgfoid and p.proowner <> r.relowner
 where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled <> 'D'
 union all
select 'setting', 'shared_buffers', format('%s for %s that matches read', pg_size_pretty(m.given), pg_size_pretty(m.needed)), v.verdict,
       case when v.verdict <> 'ok' then 'pages of the queues are read and written again and again' end,
       case when v.verdict <> 'ok' then format('alter system set shared_buffers = ''%sMB'', then restart the server', ceil(m.needed * 1.5 / 1024 ^ 2)) end
  from memory m
 cross join lateral (select case when m.needed > m.given then 'advice' else 'ok' end as verdict) v
 union all
-- a thousand jobs a second, each matched, reported and finished, use 260 million ids a day of the 2 thousand million there are
select 'transaction ids', 'age of the oldest', format('%s million', age(d.datfrozenxid) / 1000000), v.verdict,
       case when v.verdict <> 'ok' then 'at 2,000 million the server takes no more transactions' end,
       case when v.verdict <> 'ok' then format('end old snapshots and let autovacuum work; else vacuum (freeze) database %I', d.datname) end
  from pg_database d
 cross join lateral (select case when age(d.datfrozenxid) >= 1200000000 then 'problem' when age(d.datfrozenxid) >= 600000000 then 'advice' else 'ok' end as verdict) v
 where d.datname = current_database();

comment on view monitor.health_table is
'Dead rows, size, statistics, foreign triggers of the tables of taskqueue, and the memory for them. Part of monitor.health.';
comment on column monitor.health_table.area is 'bloat, statistics, autovacuum, trigger, setting or transaction ids.';
comment on column monitor.health_table.object is 'Table, index, trigger or setting.';
comment on column monitor.health_table.value is 'What was found.';
comment on column monitor.health_table.verdict is 'ok, advice or problem.';
comment on column monitor.health_table.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_table.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_work.sql
-- after: resource.setup_time
-- Whether taskqueue.maintain does its work. It keeps no record of its own: what it should have done long ago and has not tells.
create or replace view monitor.health_work as
with today (day, days) as (
  select (now() at time zone 'utc')::date, (select coalesce(ceil(extract(epoch from max(s.history_kept)) / 86400), 30)::int from taskqueue.setting s)
), partition as (
  select to_date(right(c.relname, 8), 'YYYYMMDD') as day
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'taskqueue.history'::regclass and c.relname ~ '^history_[0-9]{8}$'
), ahead as (  -- as far as there is one for each day
  select count(*) - 1 as days
    from (select p.day - row_number() over (order by p.day)::int + 1 as begins from partition p, today t where p.day >= t.day) p, today t
   where p.begins = t.day
), late as (
  select t.setup, greatest(t.now - (select min(m.marked_at) from taskqueue.share_mark m where m.setup = t.setup) - s.share_delay,
                           t.now - (select min(r.seen_at) from taskqueue.resource_seen r where r.setup = t.setup) - interval '10 seconds',
                           interval '0') as by
    from resource.setup_time t
    join taskqueue.setting s on s.setup = t.setup
), unfolded as (
  select c.setup, c.task_queue_id, count(*) as changes
    from taskqueue.job_count_change c
   cross join lateral (select b.known_to, b.in_flight from taskqueue.job_count b
                        where b.setup = c.setup and b.task_queue_id = c.task_queue_id
                        order by b.known_to desc, b.count_id desc limit 1) t
   where c.made_in >= t.known_to or c.made_in = any (t.in_flight)
   group by c.setup, c.task_queue_id
   order by 3 desc, 1, 2
   limit 1
), stray as (
  select count(*) as events from (select from taskqueue.history_default limit 100000) h
)
select 'maintenance' as area, 'setup ' || l.setup as object,
       case when v.verdict = 'ok' then 'done' else format('not done for %s', date_trunc('second', l.by)) end as value, v.verdict,
       case when v.verdict <> 'ok' then 'shares are those of queues that were, counts take longer to read, and explain_job knows no new resources' end as cost,
       case when v.verdict <> 'ok' then 'call taskqueue.maintain every few seconds: broker maintain --every 5, or pg_cron' end as remedy
  from late l
 cross join lateral (select case when l.by > interval '1 minute' then 'advice' else 'ok' end as verdict) v
 union all
select 'maintenance', 'changes of counts', case when u.changes is null then '0' else format('%s of queue %s in setup %s', u.changes, u.task_queue_id, u.setup) end, v.verdict,
       case when v.verdict <> 'ok' then 'each match from the queue adds them up' end,
       case when v.verdict <> 'ok' then 'call taskqueue.maintain every few seconds: broker maintain --every 5, or pg_cron' end
  from (select) one
  left join unfolded u on true
 cross join lateral (select case when u.changes >= 500 then 'advice' else 'ok' end as verdict) v
 union all
select 'history', 'partitions made ahead', case when a.days < 0 then 'none for today' else format('%s days', a.days) end, v.verdict,
       case when v.verdict <> 'ok' then 'events go into history_default, which retention does not clear' end,
       case when v.verdict <> 'ok' then 'call taskqueue.maintain() without a setup at least once a day' end
  from ahead a
 cross join lateral (select case when a.days < 1 and exists (select from resource.setup) then 'advice' else 'ok' end as verdict) v
 union all
select 'history', 'events in history_default', s.events || case when s.events = 100000 then ' or more' else '' end, v.verdict,
       case when v.verdict <> 'ok' then 'they stay beyond the retention, and their days get no partition' end,
       case when v.verdict <> 'ok' then 'let taskqueue.maintain() run; delete those beyond the retention by hand, as broker_owner' end
  from stray s
 cross join lateral (select case when s.events > 0 then 'advice' else 'ok' end as verdict) v
 union all
select 'history', 'partitions beyond the retention', format('%s, retention is %s days', o.partitions, t.days), v.verdict,
       case when v.verdict <> 'ok' then 'disk: 7 GB a day at a thousand matches a second' end,
       case when v.verdict <> 'ok' then 'call taskqueue.maintain(); where it cannot drop them, somebody reads the history for long' end
  from today t
 cross join lateral (select count(*) as partitions from partition p where p.day < t.day - t.days - 1) o
 cross join lateral (select case when o.partitions > 0 then 'advice' else 'ok' end as verdict) v;

comment on view monitor.health_work is
'Whether the background work is done: shares, counts, resources seen, partitions of the history. Part of monitor.health.';
comment on column monitor.health_work.area is 'maintenance or history.';
comment on column monitor.health_work.object is 'Setup, or what was looked at.';
comment on column monitor.health_work.value is 'What was found.';
comment on column monitor.health_work.verdict is 'ok, advice or problem.';
comment on column monitor.health_work.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_work.remedy is 'What to do; null where it is ok.';
-- file: monitor/job.sql
-- The first question of a user: where is my job.
create or replace view monitor.job as
select j.setup, j.job_id, case when j.held then 'held' else 'waiting' end as state, j.inserted_at as since, j.task_queue_id, j.user_priority,
       j.attempts, null::text as site
  from taskqueue.job j
 union all
select l.setup, l.job_id, 'leased', l.matched_at, l.task_queue_id, l.user_priority, l.attempt, l.site
  from taskqueue.lease l
 union all
select e.setup, e.job_id, e.outcome, e.ended_at, e.task_queue_id, null, e.attempts, null
  from taskqueue.ended e;

comment on view monitor.job is
'Every job of TaskQueues: waiting, held, leased, or how it ended. A job is in exactly one row.';
comment on column monitor.job.setup is 'Tenant.';
comment on column monitor.job.job_id is 'Job.';
comment on column monitor.job.state is 'waiting, held, leased, or the outcome: finished, failed, cancelled, closed.';
comment on column monitor.job.since is 'Since when: inserted, matched or ended.';
comment on column monitor.job.task_queue_id is 'Queue it waits in or was taken from.';
comment on column monitor.job.user_priority is 'User priority; null when it has ended.';
comment on column monitor.job.attempts is 'How often it was matched.';
comment on column monitor.job.site is 'Site that has it; null when it is not leased.';
-- file: monitor/job_in_two_states.sql
-- Consistency: always empty.
create or replace view monitor.job_in_two_states as
select s.setup, s.job_id, string_agg(s.state, ', ' order by s.state) as states
  from (select j.setup, j.job_id, 'waiting' as state from taskqueue.job j
        union all
        select l.setup, l.job_id, 'leased' from taskqueue.lease l
        union all
        select e.setup, e.job_id, 'ended' from taskqueue.ended e) s
 group by s.setup, s.job_id
having count(*) > 1;

comment on view monitor.job_in_two_states is
'Jobs that are in more than one of waiting, leased, ended. Always empty; a row is a fault of pgbroker.';
comment on column monitor.job_in_two_states.setup is 'Tenant.';
comment on column monitor.job_in_two_states.job_id is 'Job.';
comment on column monitor.job_in_two_states.states is 'Where it is.';
-- file: monitor/job_without_queue.sql
-- Consistency: always empty.
create or replace view monitor.job_without_queue as
select j.setup, j.job_id, j.task_queue_id
  from taskqueue.job j
 where not exists (select from taskqueue.task_queue q where q.setup = j.setup and q.task_queue_id = j.task_queue_id);

comment on view monitor.job_without_queue is
'Waiting jobs in no TaskQueue. Always empty; a row is a fault of pgbroker.';
comment on column monitor.job_without_queue.setup is 'Tenant.';
comment on column monitor.job_without_queue.job_id is 'Job.';
comment on column monitor.job_without_queue.task_queue_id is 'Queue that is not there.';
-- file: monitor/lease.sql
-- after: resource.setup_time
-- Who has which job.
create or replace view monitor.lease as
select l.setup, l.job_id, l.attempt, l.state, l.site, l.grid_ce, l.role_name, l.matched_at, l.reported_at, l.expires_at,
       l.expires_at < t.now as expired, l.kill_reason, l.task_queue_id, l.user_priority, d.requirements
  from taskqueue.lease l
  join resource.setup_time t on t.setup = l.setup
  left join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id;

comment on view monitor.lease is
'Matched jobs that have not ended: who has them and since when. The token is not shown.';
comment on column monitor.lease.setup is 'Tenant.';
comment on column monitor.lease.job_id is 'Job.';
comment on column monitor.lease.attempt is 'Number of this match of the job.';
comment on column monitor.lease.state is 'matched or running.';
comment on column monitor.lease.site is 'Site.';
comment on column monitor.lease.grid_ce is 'Computing element.';
comment on column monitor.lease.role_name is 'Database role of the agent.';
comment on column monitor.lease.matched_at is 'When it was matched.';
comment on column monitor.lease.reported_at is 'Last report.';
comment on column monitor.lease.expires_at is 'Until when the next report is awaited.';
comment on column monitor.lease.expired is 'Whether that has passed.';
comment on column monitor.lease.kill_reason is 'Not null: the agent is told to kill the job.';
comment on column monitor.lease.task_queue_id is 'Queue it was taken from.';
comment on column monitor.lease.user_priority is 'User priority.';
comment on column monitor.lease.requirements is 'What it asked for.';
-- file: monitor/matches_per_minute.sql
-- after: taskqueue.match
-- How fast jobs leave.
create or replace view monitor.matches_per_minute as
select h.setup, date_trunc('minute', h.at) as minute, h.owner_group, count(*) as matches, count(distinct h.site) as sites
  from taskqueue.match h
 group by h.setup, date_trunc('minute', h.at), h.owner_group;

comment on view monitor.matches_per_minute is
'Matches by minute and owner group. Restrict the minute where the history is long.';
comment on column monitor.matches_per_minute.setup is 'Tenant.';
comment on column monitor.matches_per_minute.minute is 'Start of the minute.';
comment on column monitor.matches_per_minute.owner_group is 'Owner group.';
comment on column monitor.matches_per_minute.matches is 'Matches.';
comment on column monitor.matches_per_minute.sites is 'Sites that got them.';
-- file: monitor/matching_difference.sql
-- Consistency: always empty.
create or replace view monitor.matching_difference as
select s.setup, c.structure, c.key, c.expected, c.found
  from resource.setup s
 cross join lateral taskqueue.check_matching(s.setup) c;

comment on view monitor.matching_difference is
'Where what matching reads differs from the TaskQueues, requirement tables, jobs and leases that it is derived from (a queue visible without its requirements, jobs that no posting leads to, wrong counts). Always empty; taskqueue.rebuild_matching repairs.';
comment on column monitor.matching_difference.setup is 'Tenant.';
comment on column monitor.matching_difference.structure is 'Derived structure.';
comment on column monitor.matching_difference.key is 'What in it.';
comment on column monitor.matching_difference.expected is 'What it should be.';
comment on column monitor.matching_difference.found is 'What it is.';
-- file: monitor/oldest_job.sql
-- after: taskqueue.match
-- after: resource.setup_time
-- Short jobs can starve under "highest bucket first" (section 11): which, and by whom.
create or replace view monitor.oldest_job as
select q.setup, q.task_queue_id, q.cpu_time, q.owner_group, o.job_id, o.inserted_at, t.now - o.inserted_at as waits,
       coalesce(m.matches, 0) as matches_last_hour, coalesce(h.matches, 0) as higher_matches_last_hour,
       coalesce(m.matches, 0) = 0 and coalesce(h.matches, 0) > 0 as starved
  from taskqueue.task_queue q
  join resource.setup_time t on t.setup = q.setup
 cross join lateral (select j.job_id, j.inserted_at from taskqueue.job j
                      where j.setup = q.setup and j.task_queue_id = q.task_queue_id and not j.held
                      order by j.inserted_at, j.job_id limit 1) o
  left join lateral (select count(*) as matches from taskqueue.match e
                      where e.setup = q.setup and e.at > t.now - interval '1 hour'
                        and e.task_queue_id = q.task_queue_id) m on true
  left join lateral (select count(*) as matches from taskqueue.match e
                      where e.setup = q.setup and e.at > t.now - interval '1 hour'
                        and e.cpu_time > q.cpu_time) h on true;

comment on view monitor.oldest_job is
'The oldest waiting job of each TaskQueue, and whether higher CPU buckets keep it waiting: matches went to them within the hour and none to the queue.';
comment on column monitor.oldest_job.setup is 'Tenant.';
comment on column monitor.oldest_job.task_queue_id is 'TaskQueue.';
comment on column monitor.oldest_job.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.oldest_job.owner_group is 'Owner group.';
comment on column monitor.oldest_job.job_id is 'Its oldest waiting job.';
comment on column monitor.oldest_job.inserted_at is 'Since when it waits.';
comment on column monitor.oldest_job.waits is 'How long.';
comment on column monitor.oldest_job.matches_last_hour is 'Matches from this queue within the hour.';
comment on column monitor.oldest_job.higher_matches_last_hour is 'Matches from higher buckets within the hour.';
comment on column monitor.oldest_job.starved is 'True: higher buckets were served within the hour and this queue was not.';
-- file: monitor/resource_seen.sql
-- after: taskqueue.resource_kind
-- Who asks.
create or replace view monitor.resource_seen as
select k.setup, k.class, k.last_seen, k.first_seen, k.samples, k.matched, k.resource
  from taskqueue.resource_kind k;

comment on view monitor.resource_seen is
'Kinds of resources seen lately: descriptions as they came, without JobID, CPUTime as the bucket that it covers.';
comment on column monitor.resource_seen.setup is 'Tenant.';
comment on column monitor.resource_seen.class is 'Kind of resource.';
comment on column monitor.resource_seen.last_seen is 'Last seen.';
comment on column monitor.resource_seen.first_seen is 'First seen.';
comment on column monitor.resource_seen.samples is 'Ten-second windows in which it asked.';
comment on column monitor.resource_seen.matched is 'Those of them whose sampled request got a job.';
comment on column monitor.resource_seen.resource is 'Description.';
-- file: monitor/setup.sql
-- Who lives here.
create or replace view monitor.setup as
select s.setup, s.created_at, s.simulated, (select count(*) from taskqueue.task_queue q where q.setup = s.setup) as task_queues,
       (select count(*) from resource.identity i where i.setup = s.setup) as identities
  from resource.setup s;

comment on view monitor.setup is
'Setups, with how much they hold. taskqueue.remove_setup takes one away.';
comment on column monitor.setup.setup is 'Tenant.';
comment on column monitor.setup.created_at is 'Since when.';
comment on column monitor.setup.simulated is 'Time of a simulated setup; null = real time.';
comment on column monitor.setup.task_queues is 'TaskQueues.';
comment on column monitor.setup.identities is 'Database roles that may use it besides operators.';
-- file: monitor/site_limit.sql
-- after: taskqueue.queue_count
-- after: resource.setup_time
-- after: taskqueue.posted_queue
-- What the limits hold back.
create or replace view monitor.site_limit as
select l.setup, l.limit_id, l.site, l.grid_ce, l.kind, l.attribute, l.value, l.ceiling, l.delay, l.burst, u.used,
       case l.kind when 'running' then u.used >= l.ceiling
                   else coalesce(l.next_at > t.now + (l.burst - 1) * l.delay, false) end as reached,
       b.queues, b.jobs
  from taskqueue.site_limit l
  join resource.setup_time t on t.setup = l.setup
 cross join lateral (select count(*) as used
                       from taskqueue.limit_use i where i.setup = l.setup and i.limit_id = l.limit_id) u
 cross join lateral (select count(*) as queues, coalesce(sum(n.jobs), 0)::bigint as jobs
                       from taskqueue.posted_queue p
                       join taskqueue.task_queue q on q.setup = p.setup and q.task_queue_id = p.task_queue_id
                       join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
                       join taskqueue.queue_count n on n.setup = p.setup and n.task_queue_id = p.task_queue_id
                      where p.setup = l.setup and p.site in (l.site, '*') and taskqueue.lists(d.requirements, l.attribute, l.value)) b;

comment on view monitor.site_limit is
'Limits with how far they are used, and which waiting jobs they hold back while they are reached.';
comment on column monitor.site_limit.setup is 'Tenant.';
comment on column monitor.site_limit.limit_id is 'Limit.';
comment on column monitor.site_limit.site is 'Site.';
comment on column monitor.site_limit.grid_ce is 'Computing element; null = the whole site.';
comment on column monitor.site_limit.kind is 'running or delay.';
comment on column monitor.site_limit.attribute is 'Requirement key.';
comment on column monitor.site_limit.value is 'Value of it.';
comment on column monitor.site_limit.ceiling is 'Jobs at a time.';
comment on column monitor.site_limit.delay is 'Time between two matches.';
comment on column monitor.site_limit.burst is 'Matches at once after a pause.';
comment on column monitor.site_limit.used is 'Leases that count at it; kind running.';
comment on column monitor.site_limit.reached is 'Whether nothing more may be matched there now.';
comment on column monitor.site_limit.queues is 'Open TaskQueues that the site may see and that count at it.';
comment on column monitor.site_limit.jobs is 'Their waiting jobs.';
-- file: monitor/task_queue.sql
-- after: taskqueue.queue_count
-- The first view a DBA opens.
create or replace view monitor.task_queue as
select q.setup, q.task_queue_id, q.owner_group, q.owner_dn, q.cpu_time, q.priority,
       coalesce(n.jobs, 0) as jobs,
       (select count(*) from taskqueue.job h where h.setup = q.setup and h.task_queue_id = q.task_queue_id and h.held) as held_jobs,
       case when not q.enabled then 'disabled' when q.held then 'held'
            when exists (select from taskqueue.held_owner o where o.setup = q.setup and o.owner_dn = q.owner_dn) then 'owner held' else 'open' end as state,
       (select min(j.inserted_at) from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id) as oldest_job_at,
       q.created_at, q.mean_weight,
       (select count(*) from taskqueue.task_queue s where s.setup = q.setup and s.definition_id = q.definition_id) as siblings,
       d.requirements
  from taskqueue.task_queue q
  join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
  left join taskqueue.queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id;

comment on view monitor.task_queue is
'TaskQueues with their requirements, jobs, age and share: what waits, for whom, and what it asks for.';
comment on column monitor.task_queue.setup is 'Tenant.';
comment on column monitor.task_queue.task_queue_id is 'TaskQueue.';
comment on column monitor.task_queue.owner_group is 'Owner group.';
comment on column monitor.task_queue.owner_dn is 'Owner.';
comment on column monitor.task_queue.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.task_queue.priority is 'Share of its entity (section 9).';
comment on column monitor.task_queue.jobs is 'Waiting jobs that are not held.';
comment on column monitor.task_queue.held_jobs is 'Waiting jobs that are held.';
comment on column monitor.task_queue.state is 'open, disabled, held or owner held.';
comment on column monitor.task_queue.oldest_job_at is 'Since when its oldest job waits.';
comment on column monitor.task_queue.created_at is 'When it was opened.';
comment on column monitor.task_queue.mean_weight is 'Mean draw weight of its jobs when the shares were last computed.';
comment on column monitor.task_queue.siblings is 'TaskQueues with the same requirements, itself counted.';
comment on column monitor.task_queue.requirements is 'Canonical requirements.';
-- file: monitor/waiting_by_cpu_bucket.sql
-- after: taskqueue.queue_count
-- How long the waiting jobs are.
create or replace view monitor.waiting_by_cpu_bucket as
select b.setup, b.cpu_time, count(q.task_queue_id) as queues, coalesce(sum(n.jobs), 0)::bigint as jobs
  from taskqueue.cpu_bucket b
  left join taskqueue.task_queue q on q.setup = b.setup and q.cpu_time = b.cpu_time
  left join taskqueue.queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
 group by b.setup, b.cpu_time;

comment on view monitor.waiting_by_cpu_bucket is
'TaskQueues and waiting jobs by CPU bucket; empty buckets are shown.';
comment on column monitor.waiting_by_cpu_bucket.setup is 'Tenant.';
comment on column monitor.waiting_by_cpu_bucket.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.waiting_by_cpu_bucket.queues is 'TaskQueues.';
comment on column monitor.waiting_by_cpu_bucket.jobs is 'Waiting jobs that are not held.';
-- file: monitor/waiting_by_group.sql
-- after: taskqueue.queue_count
-- Who waits.
create or replace view monitor.waiting_by_group as
select q.setup, q.owner_group, q.owner_dn, count(*) as queues, sum(n.jobs)::bigint as jobs, sum(q.priority) as priority,
       min(j.inserted_at) as oldest_job_at
  from taskqueue.task_queue q
  join taskqueue.queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
  left join lateral (select min(i.inserted_at) as inserted_at from taskqueue.job i where i.setup = q.setup and i.task_queue_id = q.task_queue_id) j on true
 group by q.setup, q.owner_group, q.owner_dn;

comment on view monitor.waiting_by_group is
'TaskQueues and waiting jobs by owner group and owner.';
comment on column monitor.waiting_by_group.setup is 'Tenant.';
comment on column monitor.waiting_by_group.owner_group is 'Owner group.';
comment on column monitor.waiting_by_group.owner_dn is 'Owner.';
comment on column monitor.waiting_by_group.queues is 'TaskQueues.';
comment on column monitor.waiting_by_group.jobs is 'Waiting jobs that are not held.';
comment on column monitor.waiting_by_group.priority is 'Sum of their priorities.';
comment on column monitor.waiting_by_group.oldest_job_at is 'Since when the oldest waits.';
-- file: monitor/waiting_by_platform.sql
-- after: taskqueue.queue_count
-- Which platforms the waiting jobs accept.
create or replace view monitor.waiting_by_platform as
select q.setup, coalesce(v.value, '(any platform)') as platform, count(*) as queues, sum(n.jobs)::bigint as jobs
  from taskqueue.task_queue q
  join taskqueue.queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
  left join taskqueue.task_queue_platform v on v.setup = q.setup and v.task_queue_id = q.task_queue_id
 group by q.setup, v.value;

comment on view monitor.waiting_by_platform is
'TaskQueues and waiting jobs by the platforms that may run them; a queue counts at every platform that it lists.';
comment on column monitor.waiting_by_platform.setup is 'Tenant.';
comment on column monitor.waiting_by_platform.platform is 'Platform, or (any platform).';
comment on column monitor.waiting_by_platform.queues is 'TaskQueues.';
comment on column monitor.waiting_by_platform.jobs is 'Waiting jobs that are not held.';
-- file: monitor/waiting_by_site.sql
-- after: taskqueue.queue_count
-- after: taskqueue.posted_queue
-- Where the waiting jobs may run.
create or replace view monitor.waiting_by_site as
select p.setup, case p.site when '*' then '(any site)' else p.site end as site, count(*) as queues, sum(n.jobs)::bigint as jobs
  from taskqueue.posted_queue p
  join taskqueue.queue_count n on n.setup = p.setup and n.task_queue_id = p.task_queue_id
 where p.site <> ''
 group by p.setup, p.site;

comment on view monitor.waiting_by_site is
'Open TaskQueues and their jobs by the sites that may run them; a queue counts at every site that it lists. (any site): queues that list none, which every site may take besides its own.';
comment on column monitor.waiting_by_site.setup is 'Tenant.';
comment on column monitor.waiting_by_site.site is 'Site, or (any site).';
comment on column monitor.waiting_by_site.queues is 'Open TaskQueues.';
comment on column monitor.waiting_by_site.jobs is 'Their waiting jobs.';
-- file: resource/caller.sql
-- Who calls: inside a SECURITY DEFINER function current_user is the owner, so the role that was SET counts, else the login.
create or replace function resource.caller() returns text
language sql stable
as $$
  select coalesce(nullif(current_setting('role'), 'none'), session_user)
$$;

comment on function resource.caller() is
'The database role that calls: the one that was SET, else the one that logged in.';
-- file: resource/clear_identity.sql
-- Takes a setup away from a database role (architecture, Roles).
create or replace function resource.clear_identity(p_setup text, p_role_name text) returns boolean
language sql
security definer set search_path = resource, pg_temp
as $$
  with gone as (delete from resource.identity where setup = p_setup and role_name = p_role_name returning 1)
  select exists (select from gone)
$$;

comment on function resource.clear_identity(text, text) is
'Takes the use of a setup away from a database role; false when it had none.';
-- file: resource/clock.sql
-- The only place that reads the time, so that tests, what-if and simulation can set it (architecture, Time).
create or replace function resource.clock(p_setup text) returns timestamptz
language sql stable parallel safe
as $$
  select coalesce((select t.now from resource.setup_time t where t.setup = p_setup), now())
$$;

comment on function resource.clock(text) is
'The time of a setup: now(), or, for a simulated setup, the moment set with resource.set_clock.';
-- file: resource/identify.sql
-- Who an agent or submitter is comes from its login, not from what it says (architecture, Roles).
create or replace function resource.identify(p_setup text) returns resource.identity
language plpgsql stable
as $$
declare
  v_identity resource.identity;
begin
  select i.* into v_identity from resource.identity i where i.setup = p_setup and i.role_name = resource.caller();
  if not found then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null') using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    if pg_has_role(resource.caller(), (select r.role_name from resource.house_role r where r.kind = 'operator'), 'member') is not true then
      raise exception 'role % may not use setup %', resource.caller(), p_setup
        using errcode = 'PB002', hint = 'An operator grants it with resource.set_identity.';
    end if;
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
  end if;
  return v_identity;
end $$;

comment on function resource.identify(text) is
'The identity of the caller in a setup. Operators need no row and are generic everywhere. Errors: PB001 (no setup), PB002 (setup not granted).';
-- file: resource/installed_release.sql
-- A program asks this before it works here; it stays as it is in all releases, so that an old program can ask a new
-- database. Roles that see no table may call it.
create or replace function resource.installed_release(out release text, out revision text)
language sql stable security definer
set search_path = resource, pg_temp
as $$
  select h.release, v.version_num from resource.house h cross join resource.alembic_version v
$$;

comment on function resource.installed_release() is
'Release and revision of what is installed here; a program refuses to work with a database newer than itself.';
-- file: resource/look.sql
-- Who may look without changing anything: viewers and operators everywhere, others where they are granted the setup.
create or replace function resource.look(p_setup text) returns resource.identity
language plpgsql stable
as $$
declare
  v_identity resource.identity;
begin
  if p_setup <> '' and pg_has_role(resource.caller(), (select r.role_name from resource.house_role r where r.kind = 'viewer'), 'member') then
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
    return v_identity;
  end if;
  return resource.identify(p_setup);
end $$;

comment on function resource.look(text) is
'The identity of the caller for calls that change nothing: a viewer is generic everywhere. Errors: PB001 (no setup), PB002 (setup not granted).';
-- file: resource/require_setup.sql
-- A setup comes into being with its first job or configuration.
create or replace function resource.require_setup(p_setup text) returns void
language plpgsql
as $$
begin
  if not exists (select from resource.setup s where s.setup = p_setup) then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null') using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    insert into resource.setup (setup) values (p_setup) on conflict do nothing;
  end if;
end $$;

comment on function resource.require_setup(text) is 'Makes a setup where there is none. Errors: PB001.';
-- file: resource/set_clock.sql
-- Marks a setup as simulated (architecture, Time).
create or replace function resource.set_clock(p_setup text, p_now timestamptz) returns void
language plpgsql
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.require_setup(p_setup);
  update resource.setup set simulated = p_now where setup = p_setup;
end $$;

comment on function resource.set_clock(text, timestamptz) is
'Sets the time of a simulated setup; null gives it real time again. For tests, what-if and simulation. Errors: PB001.';
-- file: resource/set_identity.sql
-- Says who a database role is in a setup (architecture, Roles).
create or replace function resource.set_identity(p_setup text, p_role_name text, p_private boolean default false,
                                                 p_owner_group text default null, p_owner_dn text default null) returns void
language plpgsql
security definer set search_path = resource, pg_temp
as $$
begin
  if p_private is distinct from (p_owner_group is not null or p_owner_dn is not null) then
    raise exception 'identity of % is %, but its owner group is % and its owner is %', p_role_name,
          case when p_private then 'private' else 'generic' end, coalesce(p_owner_group, 'not given'), coalesce(p_owner_dn, 'not given')
      using errcode = 'PB001', hint = 'A private identity names an owner group or an owner (or both), a generic one neither.';
  end if;
  if p_role_name is null or p_role_name = '' then
    raise exception 'role name is %', coalesce(quote_literal(p_role_name), 'null')
      using errcode = 'PB001', hint = 'Name the database role that the agent or submitter logs in with.';
  end if;
  perform resource.require_setup(p_setup);
  insert into resource.identity (setup, role_name, private, owner_group, owner_dn)
  values (p_setup, p_role_name, p_private, p_owner_group, p_owner_dn)
  on conflict (setup, role_name) do update
     set private = excluded.private, owner_group = excluded.owner_group, owner_dn = excluded.owner_dn;
end $$;

comment on function resource.set_identity(text, text, boolean, text, text) is
'Grants a database role the use of a setup: generic, or private to an owner group, an owner, or both. Errors: PB001.';
-- file: resource/setup_time.sql
-- The time of each setup; resource.clock reads it, and so do views.
create or replace view resource.setup_time as
select s.setup, coalesce(s.simulated, now()) as now
  from resource.setup s;

comment on view resource.setup_time is
'The time of each setup: now(), or, for a simulated one, what resource.set_clock said.';
comment on column resource.setup_time.setup is 'Tenant.';
comment on column resource.setup_time.now is 'Its time.';
-- file: roles.sql
-- The grants of the whole house. What stands here is what the roles have, no more and no less: `broker db upgrade`
-- grants what is missing and revokes what is no longer here, in the transaction that makes the objects.
--
-- One line a thing: `grant privilege on kind room.name to role, role;`. A function's name alone means all its
-- overloads. `broker_` stands for the prefix of the installation (`broker db upgrade --role-prefix`). PUBLIC has nothing.
--
--   broker_owner      owns everything, nobody logs in as it
--   broker_agent      the calls of a JobAgent and nothing else
--   broker_submitter  submits and cancels jobs
--   broker_operator   runs the house: all public functions, configuration, views
--   broker_viewer     looks: monitor's views and the explanations
--
-- Somebody gets a role as a member: `grant broker_agent to pilot_user`.

grant usage on schema resource  to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant usage on schema taskqueue to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant usage on schema monitor   to                                 broker_operator, broker_viewer;

-- resource: who may do what, and the clock of a simulated setup
grant execute on function resource.installed_release       to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant execute on function resource.set_identity            to broker_operator;
grant execute on function resource.clear_identity          to broker_operator;
grant execute on function resource.set_clock               to broker_operator;

-- taskqueue: a JobAgent's calls
grant execute on function taskqueue.match_job              to broker_agent, broker_operator;
grant execute on function taskqueue.match_jobs             to broker_agent, broker_operator;
grant execute on function taskqueue.report_job             to broker_agent, broker_operator;
grant execute on function taskqueue.finish_job             to broker_agent, broker_operator;
grant execute on function taskqueue.release_job            to broker_agent, broker_operator;

-- taskqueue: a submitter's calls
grant execute on function taskqueue.insert_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.insert_jobs            to broker_submitter, broker_operator;
grant execute on function taskqueue.cancel_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.delete_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.queue_of_job           to broker_submitter, broker_operator;

-- taskqueue: explanations
grant execute on function taskqueue.matching_queues        to broker_operator, broker_viewer;
grant execute on function taskqueue.explain_match          to broker_operator, broker_viewer;
grant execute on function taskqueue.explain_job            to broker_operator, broker_viewer;
grant execute on function taskqueue.check_matching         to broker_operator, broker_viewer;

-- taskqueue: an operator's calls
grant execute on function taskqueue.delete_queue_if_empty  to broker_operator;
grant execute on function taskqueue.delete_empty_queues    to broker_operator;
grant execute on function taskqueue.set_queue_enabled      to broker_operator;
grant execute on function taskqueue.hold                   to broker_operator;
grant execute on function taskqueue.let_go                 to broker_operator;
grant execute on function taskqueue.set_limit              to broker_operator;
grant execute on function taskqueue.clear_limit            to broker_operator;
grant execute on function taskqueue.set_group              to broker_operator;
grant execute on function taskqueue.set_cpu_buckets        to broker_operator;
grant execute on function taskqueue.recompute_shares       to broker_operator;
grant execute on function taskqueue.rebuild_matching       to broker_operator;
grant execute on function taskqueue.forget_ended           to broker_operator;
grant execute on function taskqueue.match_jobs_with_seed     to broker_operator;
grant execute on function taskqueue.set_settings             to broker_operator;
grant execute on function taskqueue.set_platform_compatibility to broker_operator;
grant execute on function taskqueue.maintain                 to broker_operator;

-- taskqueue: worlds, and whole setups
grant execute on function taskqueue.dump_configuration     to broker_operator;
grant execute on function taskqueue.dump_task_queues       to broker_operator;
grant execute on function taskqueue.dump_leases            to broker_operator;
grant execute on function taskqueue.load_task_queues       to broker_operator;
grant execute on function taskqueue.load_leases            to broker_operator;
grant execute on function taskqueue.remove_setup           to broker_operator;
grant execute on function taskqueue.refresh_statistics     to broker_submitter, broker_operator;

-- monitor: views for people
grant select on table monitor.health                   to broker_operator, broker_viewer;
grant select on table monitor.health_session           to broker_operator, broker_viewer;
grant select on table monitor.health_setting           to broker_operator, broker_viewer;
grant select on table monitor.health_snapshot          to broker_operator, broker_viewer;
grant select on table monitor.health_table             to broker_operator, broker_viewer;
grant select on table monitor.health_work              to broker_operator, broker_viewer;
grant select on table monitor.job                      to broker_operator, broker_viewer;
grant select on table monitor.job_in_two_states        to broker_operator, broker_viewer;
grant select on table monitor.job_without_queue        to broker_operator, broker_viewer;
grant select on table monitor.lease                    to broker_operator, broker_viewer;
grant select on table monitor.matches_per_minute       to broker_operator, broker_viewer;
grant select on table monitor.matching_difference      to broker_operator, broker_viewer;
grant select on table monitor.oldest_job               to broker_operator, broker_viewer;
grant select on table monitor.resource_seen            to broker_operator, broker_viewer;
grant select on table monitor.setup                    to broker_operator, broker_viewer;
grant select on table monitor.site_limit               to broker_operator, broker_viewer;
grant select on table monitor.task_queue               to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_cpu_bucket    to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_group         to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_platform      to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_site          to broker_operator, broker_viewer;
grant execute on function taskqueue.lists              to broker_operator, broker_viewer;  -- monitor.site_limit calls it
-- file: taskqueue/accepts.sql
-- Section 4: all conditions. Each is a function of its own, so that what decides is what taskqueue.explain_match shows; all are inlined
-- into the query that uses them (no SET, no SECURITY DEFINER, no sublink in them), cheapest first.
create or replace function taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select taskqueue.accepts_cpu_time(p_definition, p_offer)
     and taskqueue.accepts_owner(p_definition, p_offer)
     and taskqueue.accepts_ram(p_definition, p_offer)
     and taskqueue.accepts_tag(p_definition, p_offer)
     and taskqueue.accepts_required_tag(p_definition, p_offer)
     and taskqueue.accepts_pilot_type(p_definition, p_offer)
     and taskqueue.accepts_job_type(p_definition, p_offer)
     and taskqueue.accepts_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_site(p_definition, p_offer)
     and taskqueue.accepts_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_site(p_definition, p_offer)
     and taskqueue.accepts_banned_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_banned_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_job_type(p_definition, p_offer)
     and taskqueue.accepts_banned_tag(p_definition, p_offer)
     and taskqueue.accepts_limits(p_definition, p_offer)
$$;

comment on function taskqueue.accepts(taskqueue.definition, taskqueue.offer) is
'Whether a definition matches an offer: all conditions of section 4.';
-- file: taskqueue/accepts_banned_grid_ce.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_grid_ces is null or not (p_definition).grid_ces && (p_offer).banned_grid_ces
$$;

comment on function taskqueue.accepts_banned_grid_ce(taskqueue.definition, taskqueue.offer) is
'Condition BannedGridCE: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_banned_job_type.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_job_types is null or not (p_definition).job_types && (p_offer).banned_job_types
$$;

comment on function taskqueue.accepts_banned_job_type(taskqueue.definition, taskqueue.offer) is
'Condition BannedJobType: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_banned_platform.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_platforms is null or not (p_definition).platforms && (p_offer).banned_platforms
$$;

comment on function taskqueue.accepts_banned_platform(taskqueue.definition, taskqueue.offer) is
'Condition BannedPlatform: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_banned_site.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_sites is null or not (p_definition).sites && (p_offer).banned_sites
$$;

comment on function taskqueue.accepts_banned_site(taskqueue.definition, taskqueue.offer) is
'Condition BannedSite: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_banned_tag.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_tags is null or not (p_definition).tags && (p_offer).banned_tags
$$;

comment on function taskqueue.accepts_banned_tag(taskqueue.definition, taskqueue.offer) is
'Condition BannedTag: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_cpu_time.sql
-- Section 4, condition 3.
create or replace function taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_definition).cpu_time <= (p_offer).cpu_time
$$;

comment on function taskqueue.accepts_cpu_time(taskqueue.definition, taskqueue.offer) is
'Condition CPUTime: the queue''s bucket is at most the CPU time offered, seconds.';
-- file: taskqueue/accepts_grid_ce.sql
-- Section 4, condition 4.
create or replace function taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).grid_ces is null or cardinality((p_definition).grid_ces) = 0 or (p_definition).grid_ces && (p_offer).grid_ces
$$;

comment on function taskqueue.accepts_grid_ce(taskqueue.definition, taskqueue.offer) is
'Condition GridCE: the queue lists none, or one that is offered.';
-- file: taskqueue/accepts_job_type.sql
-- Section 4, condition 4.
create or replace function taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).job_types is null or cardinality((p_definition).job_types) = 0 or (p_definition).job_types && (p_offer).job_types
$$;

comment on function taskqueue.accepts_job_type(taskqueue.definition, taskqueue.offer) is
'Condition JobType: the queue lists none, or one that is offered.';
-- file: taskqueue/accepts_limits.sql
-- Section 4, condition 10; section 7: each limit acts on its own.
create or replace function taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).reached is null or not taskqueue.reaches((p_definition).requirements, (p_offer).reached, (p_definition).setup)
$$;

comment on function taskqueue.accepts_limits(taskqueue.definition, taskqueue.offer) is
'Condition Limits: no value of the queue is at a limit of the site.';
-- file: taskqueue/accepts_owner.sql
-- Section 4, condition 2. DIRAC joins several groups with an OR without brackets, so that all other conditions are lost; here each is a row.
create or replace function taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select case
    when (p_offer).owner_groups is null then (p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn
    else (p_definition).owner_group = any ((p_offer).owner_groups)
         and ((p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn or (p_definition).owner_group = any ((p_offer).sharing_groups))
  end
$$;

comment on function taskqueue.accepts_owner(taskqueue.definition, taskqueue.offer) is
'Condition Owner: a private pilot takes jobs of its groups, and in groups without JobSharing only its owner''s.';
-- file: taskqueue/accepts_pilot_type.sql
-- Section 4, condition 4: PilotType is always strict.
create or replace function taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select cardinality((p_definition).pilot_types) = 0 or (p_definition).pilot_types && (p_offer).pilot_types
$$;

comment on function taskqueue.accepts_pilot_type(taskqueue.definition, taskqueue.offer) is
'Condition PilotType: the queue lists none, or one that is offered; nothing offered is no match.';
-- file: taskqueue/accepts_platform.sql
-- Section 4, condition 4.
create or replace function taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).platforms is null or cardinality((p_definition).platforms) = 0 or (p_definition).platforms && (p_offer).platforms
$$;

comment on function taskqueue.accepts_platform(taskqueue.definition, taskqueue.offer) is
'Condition Platform: the queue lists none, or one that is offered.';
-- file: taskqueue/accepts_ram.sql
-- Section 4, condition 9.
create or replace function taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_definition).min_ram is null or (p_offer).max_ram is null or (p_definition).min_ram <= (p_offer).max_ram
$$;

comment on function taskqueue.accepts_ram(taskqueue.definition, taskqueue.offer) is
'Condition MaxRAM: MinRAM of the queue is at most the memory offered, MB, where the resource says it.';
-- file: taskqueue/accepts_required_tag.sql
-- Section 4, condition 7.
create or replace function taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).required_tags is null or (p_offer).required_tags <@ (p_definition).tags
$$;

comment on function taskqueue.accepts_required_tag(taskqueue.definition, taskqueue.offer) is
'Condition RequiredTag: every tag that the resource requires is among the queue''s.';
-- file: taskqueue/accepts_site.sql
-- Section 4, conditions 4 and 5 for sites: one and the same site accepted and not banned; "any" skips both.
create or replace function taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select case
    when (p_offer).sites is null then true
    when cardinality((p_definition).sites) = 0 and (cardinality((p_definition).banned_sites) = 0 or cardinality((p_offer).sites) = 0) then true
    when cardinality((p_offer).sites) = 1 then
      (cardinality((p_definition).sites) = 0 or (p_offer).sites[1] = any ((p_definition).sites)) and not (p_offer).sites[1] = any ((p_definition).banned_sites)
    else taskqueue.first_site((p_offer).sites, (p_definition).sites, (p_definition).banned_sites) is not null
  end
$$;

comment on function taskqueue.accepts_site(taskqueue.definition, taskqueue.offer) is
'Condition Site: an offered site is listed (or none is) and not banned.';
-- file: taskqueue/accepts_tag.sql
-- Section 4, condition 6.
create or replace function taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select cardinality((p_definition).tags) = 0 or (p_offer).tags is null or (p_definition).tags <@ (p_offer).tags
$$;

comment on function taskqueue.accepts_tag(taskqueue.definition, taskqueue.offer) is
'Condition Tag: every tag of the queue is offered.';
-- file: taskqueue/answer_given.sql
-- Section 3: the same call repeated within ten minutes gives the same answer, so a lost answer costs nothing.
-- A lock on the request id makes a repetition wait while the first call still runs, and no other call.
create or replace function taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) returns jsonb
language plpgsql
as $$
declare
  v_request taskqueue.request;
begin
  if p_request_id is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_identity.setup || p_identity.role_name || p_request_id, 1));
  select r.* into v_request from taskqueue.request r
   where r.setup = p_identity.setup and r.role_name = p_identity.role_name and r.request_id = p_request_id
     and r.made_at > resource.clock(p_identity.setup) - interval '10 minutes';
  if not found then
    return null;
  end if;
  if v_request.call <> p_call or v_request.asked is distinct from p_asked then
    raise exception 'request id % was used for another call (%) within ten minutes', p_request_id, v_request.call
      using errcode = 'PB001', hint = 'Use a new request id for each call, the same only to repeat it.';
  end if;
  return v_request.answer;
end $$;

comment on function taskqueue.answer_given(resource.identity, uuid, text, uuid) is
'The answer of a request made within ten minutes; null = none, or no request id. Errors: PB001 (the id was used for another call).';
-- file: taskqueue/attempt_text.sql
-- Section 5: the attempt is a number for people and a random 128-bit token; here as one text that clients hand back as it is.
create or replace function taskqueue.attempt_text(p_number int, p_token uuid) returns text
language sql stable
as $$
  select p_number::text || '-' || replace(p_token::text, '-', '')
$$;

comment on function taskqueue.attempt_text(int, uuid) is
'The attempt as clients see it: number, hyphen, token in 32 hexadecimal digits.';
-- file: taskqueue/attribute_key.sql
-- Section 7: a limit that refers to an unknown attribute is refused when it is set.
create or replace function taskqueue.attribute_key(p_attribute text) returns text
language plpgsql immutable
as $$
declare
  v_key text;
begin
  select k into v_key
    from unnest('{OwnerDN,OwnerGroup,CPUTime,SubmitPools,PilotTypes,GridMiddlewares,Sites,BannedSites,GridCEs,Platforms,JobTypes,Tags,MinRAM,MaxRAM}'::text[]) k
   where k = p_attribute or k = p_attribute || 's' or k = 'OwnerDN' and p_attribute = 'Owner' or k = 'Platforms' and p_attribute in ('LHCbPlatform', 'LHCbPlatforms');
  if v_key is null then
    raise exception 'attribute % is not known', coalesce(quote_literal(p_attribute), 'null')
      using errcode = 'PB001', hint = 'Known: OwnerDN, OwnerGroup, CPUTime, SubmitPools, PilotTypes, GridMiddlewares, Sites, BannedSites, GridCEs, Platforms, JobTypes, Tags, MinRAM, MaxRAM, and their singular forms.';
  end if;
  return v_key;
end $$;

comment on function taskqueue.attribute_key(text) is 'The requirement key that an attribute of a limit names (JobType: JobTypes). Errors: PB001.';
-- file: taskqueue/band_of.sql
-- Four bands to an octave: a queue has at least 84 % of its band's ceiling, and one draw in twelve is thinned out in vain.
create or replace function taskqueue.band_of(p_priority float8) returns int
language sql immutable
as $$
  select ceil(4 * ln(p_priority) / ln(2::float8))::int
$$;

comment on function taskqueue.band_of(float8) is
'The band of priorities that a queue is listed in (taskqueue.posting_list).';
-- file: taskqueue/cancel_job.sql
-- Section 8: cancel_job ends a waiting job and marks a leased one for kill.
create or replace function taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text default 'cancelled') returns text
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_lease taskqueue.lease;
begin
  if p_reason is null or p_reason = '' then
    raise exception 'reason is %', coalesce(quote_literal(p_reason), 'null') using errcode = 'PB001', hint = 'Say why, the agent is told.';
  end if;
  perform taskqueue.enter(p_setup);
  loop
    if taskqueue.end_waiting(p_setup, p_job_id, 'cancelled', v_identity) is not null then
      return 'ended';
    end if;
    update taskqueue.lease l set kill_reason = p_reason where l.setup = p_setup and l.job_id = p_job_id returning l.* into v_lease;
    if found then
      perform taskqueue.may_touch(v_identity, p_job_id, v_lease.definition_id);
      perform taskqueue.note_event(v_lease, 'kill asked');
      return 'kill asked';
    end if;
    -- between the two it may have gone back to waiting: then once more
    if not exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
      raise exception 'job % neither waits nor is leased in setup %', coalesce(p_job_id::text, 'null'), p_setup
        using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
    end if;
  end loop;
end $$;

comment on function taskqueue.cancel_job(text, bigint, text) is
'Ends a waiting job (answer: ended), or marks a leased one for kill (answer: kill asked): its agent is told at its next report. Errors: PB001 (no reason), PB002 (setup or owner not granted), PB004 (no such job).';
-- file: taskqueue/canonical_requirements.sql
-- Section 2: what defines a TaskQueue, in one form, so that equal requirements are equal JSON; section 3: what is refused.
create or replace function taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) returns jsonb
language plpgsql stable
as $$
declare
  v_out jsonb := jsonb '{}';
  v_key text;
  v_value jsonb;
  v_texts text[];
begin
  -- What a definition holds is in that form: looking it up takes 4 us, working it out 25.
  if exists (select from taskqueue.definition d
              where d.setup = p_setup and d.digest = md5(p_requirements::text)::uuid and d.requirements = p_requirements) then
    return p_requirements;
  end if;
  if jsonb_typeof(p_requirements) is distinct from 'object' then
    raise exception 'requirements are %, not a JSON object', coalesce(p_requirements::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with OwnerDN, OwnerGroup and CPUTime at least.';
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_requirements) e loop
    case v_key
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the job goes to setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the requirements, or name the same.';
        end if;
        continue;
      when 'Owner', 'OwnerDN' then
        if v_out ? 'OwnerDN' and v_out ->> 'OwnerDN' <> taskqueue.one_text(v_key, v_value) then
          raise exception 'Owner is % and OwnerDN is %: they differ', p_requirements -> 'Owner', p_requirements -> 'OwnerDN'
            using errcode = 'PB001', hint = 'Owner is another name of OwnerDN; give one of them.';
        end if;
        v_out := v_out || jsonb_build_object('OwnerDN', taskqueue.one_text(v_key, v_value));
      when 'OwnerGroup' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.one_text(v_key, v_value));
      when 'CPUTime' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.cpu_bucket_of(p_setup, taskqueue.one_number(v_key, v_value)));
      when 'MinRAM', 'MaxRAM' then
        if v_value <> 'null' then
          v_out := v_out || jsonb_build_object(v_key, taskqueue.one_number(v_key, v_value)::float8);
        end if;
      when 'SubmitPools', 'GridMiddlewares', 'PilotTypes', 'Sites', 'BannedSites', 'GridCEs', 'Platforms', 'LHCbPlatforms', 'JobTypes', 'Tags' then
        v_texts := taskqueue.texts(v_key, v_value);
        if v_key = 'LHCbPlatforms' and p_requirements ? 'Platforms' and v_texts <> taskqueue.texts('Platforms', p_requirements -> 'Platforms') then
          raise exception 'LHCbPlatforms is % and Platforms is %: they differ', v_value, p_requirements -> 'Platforms'
            using errcode = 'PB001', hint = 'LHCbPlatforms is another name of Platforms; give one of them.';
        end if;
        if v_texts <> '{}' then
          v_out := v_out || jsonb_build_object(case v_key when 'LHCbPlatforms' then 'Platforms' else v_key end, to_jsonb(v_texts));
        end if;
      else
        raise exception 'requirement % (value %) is not known', v_key, v_value
          using errcode = 'PB001', hint = 'Known: Setup, OwnerDN (Owner), OwnerGroup, CPUTime, SubmitPools, GridMiddlewares, PilotTypes, Sites, BannedSites, GridCEs, Platforms (LHCbPlatforms), JobTypes, Tags, MinRAM, MaxRAM.';
    end case;
  end loop;
  foreach v_key in array array['OwnerDN', 'OwnerGroup', 'CPUTime'] loop
    if not v_out ? v_key then
      raise exception '% is missing in the requirements %', v_key, p_requirements
        using errcode = 'PB001', hint = 'OwnerDN (or Owner), OwnerGroup and CPUTime are required.';
    end if;
  end loop;
  if (v_out ->> 'MinRAM')::float8 > (v_out ->> 'MaxRAM')::float8 then
    raise exception 'MinRAM is % MB, above MaxRAM, which is % MB', v_out -> 'MinRAM', v_out -> 'MaxRAM'
      using errcode = 'PB001', hint = 'MinRAM may be at most MaxRAM.';
  end if;
  return v_out;
end $$;

comment on function taskqueue.canonical_requirements(text, jsonb) is
'The requirements in the one form that TaskQueues are compared by: aliases resolved, CPUTime as its bucket (s), lists as sorted sets, empty ones left out, RAM in MB. Errors: PB001, naming key and value (section 3).';
-- file: taskqueue/ceiling_of_band.sql
-- A hair above the power of two, so that no priority is above the ceiling of its band by rounding.
create or replace function taskqueue.ceiling_of_band(p_band int) returns float8
language sql immutable
as $$
  select power(2::float8, p_band / 4.0::float8) * 1.000000001
$$;

comment on function taskqueue.ceiling_of_band(int) is
'Upper end of a band of priorities (taskqueue.band_of).';
-- file: taskqueue/check_batch.sql
-- The shape of a batch for taskqueue.insert_jobs, before anything is stored.
create or replace function taskqueue.check_batch(p_jobs jsonb) returns bigint
language plpgsql immutable
as $$
declare
  v_bad jsonb;
  v_ids bigint[];
  v_count bigint;
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception 'jobs are %, not a JSON array', coalesce(left(p_jobs::text, 100), 'null')
      using errcode = 'PB001', hint = 'Give an array of {job_id, requirements, user_priority} or {requirements, jobs}.';
  end if;
  select e into v_bad from jsonb_array_elements(p_jobs) e
   where jsonb_typeof(e) <> 'object'
      or e - '{job_id,requirements,user_priority}'::text[] <> '{}' and e - '{requirements,jobs}'::text[] <> '{}'
      or not e ? 'requirements'
      or jsonb_typeof(coalesce(e -> 'jobs', '[]')) <> 'array'
      or e @? 'strict $.jobs[*] ? (@.type() != "array" || @.size() < 1 || @.size() > 2)'
   limit 1;
  if found then
    raise exception 'this element is not a job nor a group of jobs: %', left(v_bad::text, 200)
      using errcode = 'PB001', hint = 'An element is {job_id, requirements, user_priority} or {requirements, jobs: [[id, user_priority], ...]}.';
  end if;
  select array_agg(taskqueue.job_id(n.id)), count(taskqueue.job_priority(taskqueue.job_id(n.id), taskqueue.one_number('user_priority of job ' || n.id::text, n.priority)))
    into v_ids, v_count
    from jsonb_array_elements(p_jobs) e
   cross join lateral (
          select e -> 'job_id' as id, coalesce(e -> 'user_priority', '1') as priority where not e ? 'jobs'
          union all
          select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n;
  if v_count > 100000 then
    raise exception '% jobs in one call', v_count using errcode = 'PB001', hint = 'Up to 100,000 jobs a call; send several calls.';
  end if;
  if v_count > (select count(distinct i) from unnest(v_ids) i) then
    raise exception 'job_id % stands more than once', (select i from unnest(v_ids) i group by i having count(*) > 1 order by i limit 1)
      using errcode = 'PB001', hint = 'Each job once a call.';
  end if;
  return v_count;
end $$;

comment on function taskqueue.check_batch(jsonb) is
'How many jobs a batch holds, its shape, ids and user priorities checked. Errors: PB001, naming the element.';
-- file: taskqueue/check_matching.sql
-- Whatever is built for speed, compared with the truth that it is derived from.
create or replace function taskqueue.check_matching(p_setup text) returns table (structure text, key text, expected text, found text)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.look(p_setup);
  return query
    select 'definition', 'queue ' || q.task_queue_id, taskqueue.requirements_of_queue(q)::text, d.requirements::text
      from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where q.setup = p_setup and d.requirements <> taskqueue.requirements_of_queue(q)
    union all
    select 'definition', 'definition ' || d.definition_id, d.requirements::text, to_jsonb(d)::text
      from taskqueue.definition d
     where d.setup = p_setup
       and (d.digest, d.family, d.owner_dn, d.owner_group, d.cpu_time, d.min_ram, d.pilot_types, d.sites, d.banned_sites, d.grid_ces, d.platforms, d.job_types, d.tags)
           is distinct from
           (md5(d.requirements::text)::uuid, taskqueue.family_of(d.requirements), d.requirements ->> 'OwnerDN', d.requirements ->> 'OwnerGroup',
            (d.requirements ->> 'CPUTime')::bigint, (d.requirements ->> 'MinRAM')::float8, taskqueue.list_of(d.requirements, 'PilotTypes'),
            taskqueue.list_of(d.requirements, 'Sites'), taskqueue.list_of(d.requirements, 'BannedSites'), taskqueue.list_of(d.requirements, 'GridCEs'),
            taskqueue.list_of(d.requirements, 'Platforms'), taskqueue.list_of(d.requirements, 'JobTypes'), taskqueue.list_of(d.requirements, 'Tags'))
    union all
    select 'posting', format('queue %s at %L', coalesce(w.task_queue_id, p.task_queue_id), coalesce(w.site, p.site)), w::text, p::text
      from (select * from taskqueue.wanted_posting i where i.setup = p_setup) w
      full join (select i.*, count(*) over (partition by i.list_id, i.task_queue_id) as times from taskqueue.posted_queue i where i.setup = p_setup) p
           using (setup, site, cpu_time, band, task_queue_id)
     where (w is null or p is null or p.times > 1)
       and not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = w.task_queue_id)
    union all
    select 'posting', format('queue %s', q.task_queue_id), 'posted', 'not posted'
      from taskqueue.task_queue q
     where q.setup = p_setup
       and q.posted <> exists (select from taskqueue.wanted_posting w where w.setup = q.setup and w.task_queue_id = q.task_queue_id)
       and not exists (select from taskqueue.unposted u where u.setup = q.setup and u.task_queue_id = q.task_queue_id)
    union all
    select 'posting_list', format('list %s, band %s', p.list_id, p.band), 'within ' || coalesce(l.places[array_position(l.bands, p.band)], 0), p.place::text
      from taskqueue.posting p
      left join taskqueue.posting_list l on l.setup = p.setup and l.list_id = p.list_id
     where p.setup = p_setup and p.place > coalesce(l.places[array_position(l.bands, p.band)], 0)
    union all
    select 'posting_list', 'list ' || l.list_id, format('rate %s, top %s, room %s', s.rate, s.top, s.room), format('rate %s, top %s, room %s', l.rate, l.top, l.room)
      from taskqueue.posting_list l
     cross join lateral (select coalesce(sum(b.places * taskqueue.ceiling_of_band(b.band)), 0) as rate, coalesce(max(taskqueue.ceiling_of_band(b.band)), 0) as top,
                                coalesce(sum(b.places), 0) as room
                           from unnest(l.bands, l.places) b (band, places)) s
     where l.setup = p_setup and (l.room <> s.room or l.top <> s.top or abs(l.rate - s.rate) > 1e-9 * s.rate
                                  or l.rate is distinct from coalesce(l.sums[cardinality(l.bands)], 0))
    union all
    select 'job_count', format('queue %s, user priority %s', coalesce(j.task_queue_id, c.task_queue_id), coalesce(j.user_priority, c.user_priority)),
           coalesce(j.jobs, 0)::text, coalesce(c.jobs, 0)::text
      from (select i.task_queue_id, i.user_priority, count(*) as jobs, min(i.job_id) as first_id from taskqueue.job i where i.setup = p_setup and not i.held group by 1, 2) j
      full join (select q.task_queue_id, l.user_priority, l.jobs, l.first_id
                   from taskqueue.task_queue q cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
                  where q.setup = p_setup) c using (task_queue_id, user_priority)
     where coalesce(j.jobs, 0) <> coalesce(c.jobs, 0)
    union all
    select 'job_count', format('queue %s, user priority %s, first id', q.task_queue_id, l.user_priority), j.job_id::text, l.first_id::text
      from taskqueue.task_queue q
     cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
     cross join lateral (select min(i.job_id) as job_id from taskqueue.job i
                          where i.setup = q.setup and i.task_queue_id = q.task_queue_id and not i.held and i.user_priority = l.user_priority) j
     where q.setup = p_setup and j.job_id < coalesce(l.first_id, 0)
    union all
    select 'owner_weight', format('%s of %s%s', owner_dn, owner_group, case when light then ', light' end), format('%s queues, %s', t.queues, t.weight),
           format('%s queues, %s', w.queues, w.weight)
      from (select q.owner_group, q.owner_dn, taskqueue.is_background(q.mean_weight, true) as light, count(*) as queues, sum(q.mean_weight::numeric) as weight
              from taskqueue.task_queue q where q.setup = p_setup group by 1, 2, 3) t
      full join (select o.owner_group, o.owner_dn, o.light, sum(o.queues) as queues, sum(o.weight) as weight
                   from taskqueue.owner_weight o where o.setup = p_setup group by 1, 2, 3) w using (owner_group, owner_dn, light)
     where coalesce(t.queues, 0) <> coalesce(w.queues, 0) or coalesce(t.weight, 0) <> coalesce(w.weight, 0)
    union all
    select 'limit_use', format('limit %s, job %s', limit_id, job_id),
           case when e.counts then 'a slot' else 'no slot' end, case when u.slot is null then 'no slot' else 'slot ' || u.slot end
      from (select l.limit_id, i.job_id, true as counts
              from taskqueue.site_limit l
              join taskqueue.lease i on i.setup = l.setup and i.site = l.site and (l.grid_ce is null or l.grid_ce = i.grid_ce)
              join taskqueue.definition d on d.setup = i.setup and d.definition_id = i.definition_id
             where l.setup = p_setup and l.kind = 'running' and taskqueue.lists(d.requirements, l.attribute, l.value)) e
      full join (select i.limit_id, i.job_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) u using (limit_id, job_id)
     where e.counts is null or u.slot is null
    union all
    select 'limit_slot', 'limit ' || limit_id, coalesce(l.ceiling::text, 'no limit'), coalesce(s.slots, 0)::text
      from (select i.limit_id, i.ceiling from taskqueue.site_limit i where i.setup = p_setup and i.kind = 'running') l
      full join (select n.limit_id, sum(sign(n.slot))::bigint as slots
                   from (select f.limit_id, f.slot from taskqueue.limit_slot f where f.setup = p_setup
                         union all
                         select i.limit_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) n
                  group by 1) s using (limit_id)
     where l.ceiling is distinct from coalesce(s.slots, 0);
end $$;

comment on function taskqueue.check_matching(text) is
'Differences between what matching reads (definitions, postings, counts, weights of owners, limit slots) and the truth it is derived from; no row when all is right. One statement, exact under load. Errors: PB002 (setup not granted).';
-- file: taskqueue/clean_counts.sql
-- Counts that a newer one of the queue has replaced go; so do changes that every count which may still appear knows. A transaction that is counting
-- now may not have seen the end of another that has finished since; it was running then. So what goes belongs to transactions that had finished
-- when maintenance last looked, and goes when all that had started then have finished as well.
create or replace function taskqueue.clean_counts(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_horizon taskqueue.job_count_horizon;
  v_gone bigint;
  v_count bigint := 0;
begin
  delete from taskqueue.job_count d where d.ctid = any (array(
    select c.ctid from taskqueue.job_count c
     where c.setup = p_setup
       and (exists (select from taskqueue.job_count n
                     where n.setup = c.setup and n.task_queue_id = c.task_queue_id and (n.known_to, n.count_id) > (c.known_to, c.count_id))
            or not exists (select from taskqueue.task_queue q where q.setup = c.setup and q.task_queue_id = c.task_queue_id)
               and c.known_to < pg_snapshot_xmin(pg_current_snapshot()))
       for update skip locked));
  get diagnostics v_gone = row_count;
  v_count := v_count + v_gone;
  select h.* into v_horizon from taskqueue.job_count_horizon h where h.setup = p_setup;
  if v_horizon.started <= pg_snapshot_xmin(pg_current_snapshot()) then
    delete from taskqueue.job_count_change d where d.ctid = any (array(
      select c.ctid from taskqueue.job_count_change c
       where c.setup = p_setup and c.made_in < v_horizon.finished
         and (exists (select from taskqueue.job_count n
                       where n.setup = c.setup and n.task_queue_id = c.task_queue_id and n.known_to > c.made_in and c.made_in <> all (n.in_flight))
              or not exists (select from taskqueue.task_queue q where q.setup = c.setup and q.task_queue_id = c.task_queue_id))
         for update skip locked));
    get diagnostics v_gone = row_count;
    v_count := v_count + v_gone;
  elsif v_horizon.started is not null then
    return v_count;
  end if;
  insert into taskqueue.job_count_horizon (setup, finished, started)
  values (p_setup, pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot()))
  on conflict (setup) do update set finished = excluded.finished, started = excluded.started;
  return v_count;
end $$;

comment on function taskqueue.clean_counts(text) is
'Removes counts and changes that no reader needs any more; returns how many.';
-- file: taskqueue/clear_limit.sql
-- Section 7.
create or replace function taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) returns boolean
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.site_limit l
   where l.setup = p_setup and l.kind = p_kind and l.site = p_site and l.grid_ce is not distinct from p_ce
     and l.attribute = v_key and l.value = p_value
  returning l.limit_id into v_id;
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = v_id;
  return v_id is not null;
end $$;

comment on function taskqueue.clear_limit(text, text, text, text, text, text) is
'Removes a limit; false when there is none like that. Errors: PB001 (attribute), PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/close_gaps.sql
-- A queue that goes leaves its place in each of its lists empty, and a draw that hits an empty place was in vain. Where half of a band is empty,
-- the queues at its end move into the gaps.
create or replace function taskqueue.close_gaps(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_list_id bigint;
  v_band int;
  v_count int;
  v_movable bigint[];
  v_closed bigint := 0;
begin
  v_closed := taskqueue.drop_empty_lists(p_setup, array(
    select l.list_id from taskqueue.posting_list l
     where l.setup = p_setup and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)));
  for v_list_id, v_band in
    select l.list_id, b.band
      from taskqueue.posting_list l
     cross join lateral unnest(l.bands, l.places) b (band, places)
      left join (select p.list_id, p.band, count(*) as queues from taskqueue.posting p where p.setup = p_setup group by p.list_id, p.band) n
             on n.list_id = l.list_id and n.band = b.band
     where l.setup = p_setup and b.places >= 2 * coalesce(n.queues, 0)
     order by l.site, l.cpu_time
  loop
    perform from taskqueue.posting_list l where l.setup = p_setup and l.list_id = v_list_id for update skip locked;
    continue when not found;
    select count(*) into v_count from taskqueue.posting p where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band;
    -- an agent that finds one of these queues empty leaves it, instead of waiting for this transaction
    v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                        where q.setup = p_setup
                          and q.task_queue_id in (select p.task_queue_id from taskqueue.posting p
                                                   where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place > v_count)
                          for no key update skip locked);
    update taskqueue.posting p set place = g.place
      from (select i.place, row_number() over (order by i.place) as number
              from generate_series(1, v_count) i (place)
             where not exists (select from taskqueue.posting o
                                where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place = i.place)) g
      join (select o.place, row_number() over (order by o.place) as number
              from taskqueue.posting o
             where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place > v_count and o.task_queue_id = any (v_movable)) m using (number)
     where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place = m.place;
    perform taskqueue.measure_lists(p_setup, array[v_list_id], array[v_band]);
    v_closed := v_closed + 1;
  end loop;
  return v_closed;
end $$;

comment on function taskqueue.close_gaps(text) is
'Closes the gaps of lists where half of a band is empty, and removes lists without a queue; returns how many were changed.';
-- file: taskqueue/compatible_platforms.sql
-- Section 4: platforms are plain strings; a table of compatible platforms (offered -> accepted) expands what the resource offers.
create or replace function taskqueue.compatible_platforms(p_setup text, p_platforms text[]) returns text[]
language sql stable
as $$
  select case when p_platforms is not null then
           p_platforms || array(select c.accepted from taskqueue.platform_compatibility c where c.setup = p_setup and c.offered = any (p_platforms))
         end
$$;

comment on function taskqueue.compatible_platforms(text, text[]) is
'The platforms offered and those compatible with them; null stays null (no condition).';
-- file: taskqueue/condition.sql
-- Section 10: the filter and the explanation come from the same definition; one row a condition of section 4, by the functions that
-- taskqueue.accepts is made of.
create or replace function taskqueue.condition(d taskqueue.definition, o taskqueue.offer)
returns table (condition text, wanted text, offered text, holds boolean)
language sql stable
as $$
  select c.condition, coalesce(c.wanted, 'anything'), coalesce(c.offered, 'not offered, no condition'), c.holds
    from (values
      ('CPUTime', 'at least ' || d.cpu_time || ' s', o.cpu_time || ' s', taskqueue.accepts_cpu_time(d, o)),
      ('Owner', d.owner_dn || ' in ' || d.owner_group,
       case when o.owner_dn is null and o.owner_groups is null then 'generic pilot'
            else concat_ws(' in ', coalesce(o.owner_dn, 'any owner'), nullif(array_to_string(o.owner_groups, ', '), '')) end, taskqueue.accepts_owner(d, o)),
      ('MaxRAM', 'at least ' || d.min_ram || ' MB', o.max_ram || ' MB', taskqueue.accepts_ram(d, o)),
      ('Tag', 'all of: ' || nullif(array_to_string(d.tags, ', '), ''), taskqueue.offered_text(o.tags), taskqueue.accepts_tag(d, o)),
      ('RequiredTag', 'tags: ' || nullif(array_to_string(d.tags, ', '), ''), 'requires ' || array_to_string(o.required_tags, ', '), taskqueue.accepts_required_tag(d, o)),
      ('PilotType', 'one of: ' || nullif(array_to_string(d.pilot_types, ', '), ''), taskqueue.offered_text(o.pilot_types), taskqueue.accepts_pilot_type(d, o)),
      ('JobType', 'one of: ' || nullif(array_to_string(d.job_types, ', '), ''), taskqueue.offered_text(o.job_types), taskqueue.accepts_job_type(d, o)),
      ('GridCE', 'one of: ' || nullif(array_to_string(d.grid_ces, ', '), ''), taskqueue.offered_text(o.grid_ces), taskqueue.accepts_grid_ce(d, o)),
      ('Site', nullif(concat_ws('; ', 'one of: ' || nullif(array_to_string(d.sites, ', '), ''), 'none of: ' || nullif(array_to_string(d.banned_sites, ', '), '')), ''),
       taskqueue.offered_text(o.sites), taskqueue.accepts_site(d, o)),
      ('Platform', 'one of: ' || nullif(array_to_string(d.platforms, ', '), ''), taskqueue.offered_text(o.platforms), taskqueue.accepts_platform(d, o)),
      ('BannedSite', 'sites: ' || nullif(array_to_string(d.sites, ', '), ''), 'bans ' || array_to_string(o.banned_sites, ', '), taskqueue.accepts_banned_site(d, o)),
      ('BannedGridCE', 'CEs: ' || nullif(array_to_string(d.grid_ces, ', '), ''), 'bans ' || array_to_string(o.banned_grid_ces, ', '), taskqueue.accepts_banned_grid_ce(d, o)),
      ('BannedPlatform', 'platforms: ' || nullif(array_to_string(d.platforms, ', '), ''), 'bans ' || array_to_string(o.banned_platforms, ', '), taskqueue.accepts_banned_platform(d, o)),
      ('BannedJobType', 'job types: ' || nullif(array_to_string(d.job_types, ', '), ''), 'bans ' || array_to_string(o.banned_job_types, ', '), taskqueue.accepts_banned_job_type(d, o)),
      ('BannedTag', 'tags: ' || nullif(array_to_string(d.tags, ', '), ''), 'bans ' || array_to_string(o.banned_tags, ', '), taskqueue.accepts_banned_tag(d, o)),
      ('Limits', 'a place at the site', case when not o.limited or o.limited is null then 'no limits' else coalesce('limits reached: ' || (
         select string_agg(format('%s %s of %s %s at %s', l.kind, coalesce(l.ceiling::text, l.delay::text), l.attribute, l.value, concat_ws('/', l.site, l.grid_ce)), '; ' order by l.limit_id)
           from taskqueue.site_limit l where l.setup = d.setup and l.limit_id = any (o.reached)), 'limits not reached') end, taskqueue.accepts_limits(d, o))
    ) c (condition, wanted, offered, holds)
$$;

comment on function taskqueue.condition(taskqueue.definition, taskqueue.offer) is
'Each condition of section 4 for a definition and an offer: what is wanted, what is offered, whether it holds. All hold exactly when taskqueue.accepts says so.';
-- file: taskqueue/correct_shares.sql
-- after: taskqueue.match
-- Section 9: a correction factor per owner and group from usage history (expected share / used share, clamped to [1/5, 5]).
-- Usage is the CPU time of the buckets matched within the window, among the entities that have queues now.
create or replace function taskqueue.correct_shares(p_setup text) returns void
language plpgsql
as $$
declare
  v_setting taskqueue.setting;
begin
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  if v_setting.share_correction is not true then
    delete from taskqueue.share_correction c where c.setup = p_setup;
    return;
  end if;
  insert into taskqueue.share_correction (setup, owner_group, owner_dn, factor)
  with entity as (
    select distinct q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing
      from taskqueue.task_queue q left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup
  ), expected as (
    select e.owner_group, e.owner_dn, e.job_sharing, e.share / count(*) over (partition by e.owner_group) as share from entity e
  ), used as (
    select e.owner_group, e.owner_dn, e.share / sum(e.share) over () as expected,
           coalesce(sum(h.cpu_time), 0) / nullif(sum(sum(h.cpu_time)) over (), 0) as used
      from expected e
      left join taskqueue.match h
             on h.setup = p_setup and h.at > resource.clock(p_setup) - v_setting.correction_window
            and h.owner_group = e.owner_group and (e.job_sharing or h.owner_dn = e.owner_dn)
     group by e.owner_group, e.owner_dn, e.share
  )
  select p_setup, u.owner_group, u.owner_dn,
         case when u.used is null then 1 when u.used = 0 then 5 else greatest(0.2, least(5, u.expected / u.used)) end
    from used u order by u.owner_group, u.owner_dn
  on conflict (setup, owner_group, owner_dn) do update set factor = excluded.factor;
end $$;

comment on function taskqueue.correct_shares(text) is
'Keeps the factors of the setting share_correction; without the setting there are none.';
-- file: taskqueue/cpu_bucket_of.sql
-- Seed 004: "The Job CPU time is moved to the next value ... If the job CPU time exceeds 300000 the TaskQueue will have 300000."
create or replace function taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) returns bigint
language sql stable
as $$
  select coalesce((select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time >= p_cpu_time
                    order by b.cpu_time limit 1),
                  (select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time desc limit 1))
$$;

comment on function taskqueue.cpu_bucket_of(text, numeric) is
'The CPU bucket of a CPU time, both in seconds: the next bucket at or above it, else the highest. Null where the setup has no buckets.';
-- file: taskqueue/definition_of.sql
-- Canonical requirements as a row of taskqueue.definition: found, or made. The row is locked against maintenance, which removes
-- definitions that nothing refers to, until the caller commits.
create or replace function taskqueue.definition_of(p_setup text, p_requirements jsonb) returns bigint
language plpgsql
as $$
declare
  v_digest uuid := md5(p_requirements::text)::uuid;
  v_definition_id bigint;
begin
  loop
    select d.definition_id into v_definition_id
      from taskqueue.definition d where d.setup = p_setup and d.digest = v_digest for key share;
    exit when found;
    insert into taskqueue.definition (setup, digest, family, requirements, owner_dn, owner_group, cpu_time, min_ram,
                                      pilot_types, sites, banned_sites, grid_ces, platforms, job_types, tags, created_at)
    select p_setup, v_digest, taskqueue.family_of(r), r, r ->> 'OwnerDN', r ->> 'OwnerGroup', (r ->> 'CPUTime')::bigint, (r ->> 'MinRAM')::float8,
           taskqueue.list_of(r, 'PilotTypes'), taskqueue.list_of(r, 'Sites'), taskqueue.list_of(r, 'BannedSites'), taskqueue.list_of(r, 'GridCEs'),
           taskqueue.list_of(r, 'Platforms'), taskqueue.list_of(r, 'JobTypes'), taskqueue.list_of(r, 'Tags'), resource.clock(p_setup)
      from (values (p_requirements)) v (r)
    on conflict (setup, digest) do nothing
    returning definition_id into v_definition_id;
    exit when found;
  end loop;
  return v_definition_id;
end $$;

comment on function taskqueue.definition_of(text, jsonb) is
'The definition of canonical requirements, made where there is none.';
-- file: taskqueue/definition_of_job.sql
-- The requirements of a job that waits or is leased.
create or replace function taskqueue.definition_of_job(p_setup text, p_job_id bigint) returns taskqueue.definition
language plpgsql stable
as $$
declare
  v_definition taskqueue.definition;
begin
  select d.* into v_definition
    from (select q.definition_id from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
           where j.setup = p_setup and j.job_id = p_job_id
          union all
          select l.definition_id from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) w
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id;
  if not found then
    raise exception 'job % is %: its requirements are not kept', p_job_id, taskqueue.state_of_job(p_setup, p_job_id)
      using errcode = 'PB004', hint = 'Only jobs that wait or are leased have requirements.';
  end if;
  return v_definition;
end $$;

comment on function taskqueue.definition_of_job(text, bigint) is 'Requirements of a waiting or leased job. Errors: PB004.';
-- file: taskqueue/delete_empty_queues.sql
-- Section 6.
create or replace function taskqueue.delete_empty_queues(p_setup text) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  return (select count(*) filter (where taskqueue.drop_if_empty(p_setup, q.task_queue_id))
            from taskqueue.task_queue q
           where q.setup = p_setup
             and not exists (select from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id));
end $$;

comment on function taskqueue.delete_empty_queues(text) is 'Removes the TaskQueues without jobs; returns how many. Errors: PB002 (setup not granted).';
-- file: taskqueue/delete_job.sql
-- DIRAC's deleteJob: the job leaves the TaskQueues. It ends as closed, so that nothing is lost.
create or replace function taskqueue.delete_job(p_setup text, p_job_id bigint) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  perform taskqueue.enter(p_setup);
  return taskqueue.end_waiting(p_setup, p_job_id, 'closed', v_identity);
end $$;

comment on function taskqueue.delete_job(text, bigint) is
'Takes a waiting job out of the TaskQueues, ended as closed; returns the queue it was in, null when it did not wait. Errors: PB002 (setup or owner not granted).';
-- file: taskqueue/delete_queue_if_empty.sql
-- Section 6.
create or replace function taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) returns boolean
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  return taskqueue.drop_if_empty(p_setup, p_task_queue_id);
end $$;

comment on function taskqueue.delete_queue_if_empty(text, bigint) is
'Removes a TaskQueue without jobs; false when it has jobs, is not there, or another transaction works on it. Errors: PB002 (setup not granted).';
-- file: taskqueue/draw.sql
-- A uniform number of a candidate in one call: a hash of its id under the seed of the call. So a seed gives the same outcome whatever the
-- plan, a queue seen through two sites has one draw, and each candidate keeps its key while others are passed over.
-- Hashed twice: once alone, the draws of neighbouring ids hang together (correlations up to 0.12, and 3:2 came out as 1.65:1 instead of 2:1).
-- hashint8extended folds the halves of an id together: 5 and 2^32 + 4 would have one draw, so the upper half goes into the seed.
-- Few enough operators that it is inlined also where it is used twice (taskqueue.draw_key): 1.3 us less a draw.
create or replace function taskqueue.draw(p_id bigint, p_seed bigint) returns float8
language sql immutable
as $$
  select ((hashint8extended(hashint8extended(p_id, p_seed # (p_id >> 32)), p_seed)
           & 9007199254740991) + 0.5::float8) / 9007199254740992.0::float8
$$;

comment on function taskqueue.draw(bigint, bigint) is
'Uniform within (0, 1): the draw of a candidate under a seed (section 5).';
-- file: taskqueue/draw_key.sql
-- Section 5: order by random()/priority ascending (seed 004); the policy proportional orders by -ln(random())/priority.
-- The smallest of n draws with equal priority has the law (1 - (1 - u)^(1/n))/p, or -ln(u)/(n p): one draw serves n candidates. Given that all
-- n lie above a key, the smallest is v + (1 - v)(1 - (1 - u)^(1/n)) with v = p * key, or the key - ln(u)/(n p): so the next candidate is drawn when it is needed.
-- A double keeps 9 digits of 1 - (1 - u)^(1/n) at n = 10 million.
create or replace function taskqueue.draw_key(p_draw float8, p_count float8, p_priority float8, p_policy text, p_above float8 default 0) returns float8
language sql immutable
as $$
  select case when p_policy = 'proportional' then p_above - ln(p_draw) / (p_count * p_priority)
              else p_above + (1 / p_priority - p_above) * (1 - power(1 - p_draw, 1 / p_count))
         end
$$;

comment on function taskqueue.draw_key(float8, float8, float8, text, float8) is
'Key of the smallest draw of p_count candidates with the same priority, given that all are above p_above; the smallest key is taken first (section 5).';
-- file: taskqueue/drawn_queues.sql
-- after: taskqueue.accepts
-- Section 5, step 2, with a key a queue, for some definitions. In the bucket where points were drawn before (taskqueue.queue_point) the keys are drawn
-- given that they are above the last point. A queue has the same key each time it is asked for under a seed. The conditions are tested in the
-- drawn order until enough hold: filtering a drawn order is drawing over the filtered.
create or replace function taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above float8,
                                                  p_passed bigint[], p_policy text, p_seed bigint) returns bigint[]
language plpgsql stable
as $$
begin
  return array(
    select c.task_queue_id
      from (select o.task_queue_id, o.definition_id, o.cpu_time, taskqueue.draw_key(o.draw, 1, o.priority, p_policy, o.above) as key
              from (select q.*, taskqueue.draw(q.task_queue_id, p_seed) as draw, case when q.cpu_time = p_bucket then p_above else 0 end as above
                      from unnest(p_definition_ids) i (definition_id)
                      join taskqueue.task_queue q on q.setup = p_setup and q.definition_id = i.definition_id
                     where q.posted and q.cpu_time <= p_bucket and q.task_queue_id <> all (p_passed) offset 0) o  -- a fence, else each use of the draw is a draw of its own
             order by o.cpu_time desc, key offset 0) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id
     where taskqueue.accepts(d, p_offer)
     order by c.cpu_time desc, c.key
     limit 3);
end $$;

comment on function taskqueue.drawn_queues(text, taskqueue.offer, bigint[], bigint, float8, bigint[], text, bigint) is
'The next three queues that match an offer, in drawn order, of some definitions, those passed left out; p_bucket, p_above: where to go on.';
-- file: taskqueue/drop_empty_lists.sql
-- Lists that have run empty, in which no point falls any more. Locked first, looked at then: who appends holds the row until its commit, so what
-- it appended is seen. Nobody waits: a list that somebody works on is left for the next time.
create or replace function taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) returns bigint
language plpgsql
as $$
declare
  v_locked bigint[];
  v_count bigint;
begin
  v_locked := array(select l.list_id from taskqueue.posting_list l
                     where l.setup = p_setup and l.list_id = any (p_list_ids)
                       and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)
                       for update skip locked);
  if v_locked = '{}' then
    return 0;
  end if;
  delete from taskqueue.posting_list l
   where l.setup = p_setup and l.list_id = any (v_locked)
     and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id);
  get diagnostics v_count = row_count;
  return v_count;
end $$;

comment on function taskqueue.drop_empty_lists(text, bigint[]) is 'Removes those of the lists that hold no queue; returns how many.';
-- file: taskqueue/drop_if_empty.sql
-- Section 6: empty queues disappear, never racing an insert: an inserter holds a key share lock on the queue until it commits, and a
-- queue that is locked is left for the next who finds it empty. Nobody waits. Its counts are left to taskqueue.clean_counts.
create or replace function taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) returns boolean
language plpgsql
as $$
declare
  v_queue taskqueue.task_queue;
begin
  if exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  select q.* into v_queue from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update skip locked;
  if not found or exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  perform taskqueue.vacate_places(p_setup, p_task_queue_id);
  delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.note_weight(p_setup, v_queue.owner_group, v_queue.owner_dn, v_queue.mean_weight, -1);
  insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_queue.owner_group, resource.clock(p_setup));
  return true;
end $$;

comment on function taskqueue.drop_if_empty(text, bigint) is
'Removes a queue without jobs and everything of it; false when it has jobs, is not there, or somebody works on it.';
-- file: taskqueue/dump_configuration.sql
-- World format: the sections task_queue_settings, cpu_buckets, groups, platform_compatibility and limits.
create or replace function taskqueue.dump_configuration(p_setup text) returns jsonb
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return (
    select jsonb_build_object(
             'task_queue_settings', jsonb_build_object(
               'ten_first', s.ten_first, 'strict_keys', s.strict_keys, 'required_keys', s.required_keys, 'queue_size', s.queue_size,
               'policy', s.policy, 'lease_time', extract(epoch from s.lease_time)::float8, 'share_delay', extract(epoch from s.share_delay)::float8,
               'share_correction', s.share_correction, 'correction_window', extract(epoch from s.correction_window)::float8,
               'history_kept', extract(epoch from s.history_kept)::float8),
             'cpu_buckets', (
               select coalesce(jsonb_agg(b.cpu_time order by b.cpu_time), '[]') from taskqueue.cpu_bucket b where b.setup = p_setup),
             'groups', (
               select coalesce(jsonb_object_agg(g.owner_group, jsonb_build_object(
                        'share', g.share, 'job_sharing', g.job_sharing, 'allow_background', g.allow_background)), '{}')
                 from taskqueue.owner_group g where g.setup = p_setup),
             'platform_compatibility', (
               select coalesce(jsonb_object_agg(c.offered, c.accepted), '{}')
                 from (select p.offered, jsonb_agg(p.accepted order by p.accepted collate "C") as accepted
                         from taskqueue.platform_compatibility p where p.setup = p_setup group by p.offered) c),
             'limits', (
               select coalesce(jsonb_agg(
                        jsonb_build_object('site', l.site, 'ce', l.grid_ce, 'kind', l.kind, 'attribute', l.attribute, 'value', l.value)
                        || case l.kind when 'running' then jsonb_build_object('limit', l.ceiling)
                                       else jsonb_build_object('seconds', extract(epoch from l.delay)::float8, 'burst', l.burst) end
                        order by l.site collate "C", l.grid_ce collate "C" nulls first, l.kind, l.attribute, l.value collate "C"), '[]')
                 from taskqueue.site_limit l where l.setup = p_setup))
      from taskqueue.setting s
     where s.setup = p_setup);
end $$;

comment on function taskqueue.dump_configuration(text) is
'Settings (times in seconds), CPU buckets (s), groups, compatible platforms and limits of a setup, in the sections of the world format; null = the setup has none. Errors: PB002 (setup not granted).';
-- file: taskqueue/dump_leases.sql
-- World format, dumped on request only: a lease holds the token that proves the attempt.
create or replace function taskqueue.dump_leases(p_setup text) returns table (lease jsonb)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object(
             'id', l.job_id, 'requirements', d.requirements, 'user_priority', l.user_priority, 'state', l.state,
             'attempt', taskqueue.attempt_text(l.attempt, l.token), 'site', l.site, 'ce', l.grid_ce, 'role', l.role_name,
             'matched_at', l.matched_at at time zone 'UTC', 'reported_at', l.reported_at at time zone 'UTC',
             'expires_at', l.expires_at at time zone 'UTC', 'kill_reason', l.kill_reason)
      from taskqueue.lease l
      join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
     where l.setup = p_setup
     order by l.job_id;
end $$;

comment on function taskqueue.dump_leases(text) is
'The leases of a setup with the attempts that prove them (keep them secret), as taskqueue.load_leases takes them; times in UTC. Errors: PB002 (setup not granted).';
-- file: taskqueue/dump_task_queues.sql
-- World format, task_queues: what taskqueue.load_task_queues takes. The order depends on the content only, not on ids of queues, so that
-- a dump of what was loaded from a dump is the same.
create or replace function taskqueue.dump_task_queues(p_setup text) returns table (task_queue jsonb)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object('requirements', d.requirements, 'enabled', q.enabled, 'jobs', n.jobs)
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral (
            select min(j.job_id) as first_id, jsonb_agg(jsonb_build_array(j.job_id, j.user_priority) order by j.job_id) as jobs
              from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id) n
     where q.setup = p_setup and n.first_id is not null
     order by d.requirements::text collate "C", n.first_id;
end $$;

comment on function taskqueue.dump_task_queues(text) is
'The TaskQueues of a setup with their waiting jobs, one row {requirements, enabled, jobs: [[id, user_priority], ...]} a queue, as taskqueue.load_task_queues takes them. Holds are not part of it. Errors: PB002 (setup not granted).';
-- file: taskqueue/end_lease.sql
-- A lease ends: the job is in taskqueue.ended from the same commit on.
create or replace function taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) returns void
language plpgsql
as $$
begin
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  insert into taskqueue.ended (setup, job_id, attempts, token, task_queue_id, outcome, ended_at)
  values (p_lease.setup, p_lease.job_id, p_lease.attempt, p_lease.token, p_lease.task_queue_id, p_outcome, resource.clock(p_lease.setup));
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, p_outcome);
end $$;

comment on function taskqueue.end_lease(taskqueue.lease, text) is 'Ends a leased job with an outcome, which gives its limit slots back.';
-- file: taskqueue/end_waiting.sql
-- A waiting job ends without having run. It waits for an agent that is just taking the job; the agent wins.
create or replace function taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) returns bigint
language plpgsql
as $$
declare
  v_job taskqueue.job;
begin
  delete from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id returning j.* into v_job;
  if not found then
    return null;
  end if;
  perform taskqueue.may_touch(p_identity, p_job_id, q.definition_id) from taskqueue.task_queue q
    where q.setup = p_setup and q.task_queue_id = v_job.task_queue_id;
  insert into taskqueue.ended (setup, job_id, attempts, task_queue_id, outcome, ended_at)
  values (p_setup, p_job_id, v_job.attempts, v_job.task_queue_id, p_outcome, resource.clock(p_setup));
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, user_priority, role_name)
  values (p_setup, resource.clock(p_setup), p_job_id, v_job.attempts, p_outcome, v_job.task_queue_id, v_job.user_priority, resource.caller());
  if not v_job.held then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change) values (p_setup, v_job.task_queue_id, v_job.user_priority, -1);
  end if;
  perform taskqueue.drop_if_empty(p_setup, v_job.task_queue_id);
  return v_job.task_queue_id;
end $$;

comment on function taskqueue.end_waiting(text, bigint, text, resource.identity) is
'Ends a waiting job; returns the queue it was in, null when it does not wait. Errors: PB002 (not the caller''s).';
-- file: taskqueue/enter.sql
-- Every call that matches, inserts or returns jobs enters its setup; a reconfiguration (taskqueue.reconfigure) waits until those
-- inside have committed and keeps others out meanwhile. Without it a match that began before a limit was set would not count there.
-- A shared advisory lock: 1 us, no row, no session state.
create or replace function taskqueue.enter(p_setup text) returns void
language plpgsql
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform taskqueue.require_read_committed();
  end if;
  perform pg_advisory_xact_lock_shared(hashtext('taskqueue'), hashtext(p_setup));
end $$;

comment on function taskqueue.enter(text) is
'Marks the transaction as at work in the setup until it ends; see taskqueue.reconfigure. Errors: PB001 (isolation level).';
-- file: taskqueue/explain_job.sql
-- Section 10: against the resources seen lately: which conditions fail for how many of them, and what no resource offers.
create or replace function taskqueue.explain_job(p_setup text, p_job_id bigint)
returns table (condition text, wanted text, failing bigint, seen bigint, last_seen timestamptz, remark text)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.look(p_setup);
  v_definition taskqueue.definition := taskqueue.definition_of_job(p_setup, p_job_id);
begin
  v_identity.private := false;
  return query
    with class as materialized (  -- else the offer is made anew for each condition: 33 times
      select r.class, r.last_seen, taskqueue.offer_once_made(p_setup, r.resource, v_identity) as offer from taskqueue.resource_kind r where r.setup = p_setup
    ), verdict as (
      select k.class, k.last_seen, c.condition, c.wanted, c.holds from class k cross join lateral taskqueue.condition(v_definition, k.offer) c
       where k.offer is distinct from null
    )
    select v.condition, min(v.wanted), count(*) filter (where not v.holds), count(*), max(v.last_seen) filter (where not v.holds),
           case when not bool_or(v.holds) then format('no resource seen lately offers %s: %s', v.condition, min(v.wanted))
                when not bool_and(v.holds) then format('%s of %s kinds of resources do not', count(*) filter (where not v.holds), count(*))
           end
      from verdict v group by v.condition
    union all
    select 'all of them', 'job ' || p_job_id || ', ' || taskqueue.state_of_job(p_setup, p_job_id), count(*) filter (where not a.holds), count(*),
           max(a.last_seen) filter (where a.holds),
           case when count(*) = 0 then 'no resource was seen lately'
                when not bool_or(a.holds) then 'no resource seen lately fulfils all conditions'
                else format('%s of %s kinds of resources match', count(*) filter (where a.holds), count(*)) end
      from (select v.class, max(v.last_seen) as last_seen, bool_and(v.holds) as holds from verdict v group by v.class) a
    order by 3 desc, 1;
end $$;

comment on function taskqueue.explain_job(text, bigint) is
'Why a job waits: for each condition how many kinds of resources seen lately fail it, out of how many, and when one was last seen; the row "all of them" counts those that fail any, and when one that matches was last seen. Errors: PB002 (setup not granted), PB004 (no such job).';
-- file: taskqueue/explain_match.sql
-- Section 10: why a job does, or does not, match a resource.
create or replace function taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb)
returns table (condition text, wanted text, offered text, holds boolean)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
  v_state text := taskqueue.state_of_job(p_setup, p_job_id);
  v_queue taskqueue.task_queue;
  v_definition taskqueue.definition;
begin
  v_definition := taskqueue.definition_of_job(p_setup, p_job_id);
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  return query select * from taskqueue.condition(v_definition, v_offer);
  return query values
    ('waiting', 'a job that waits', 'it is ' || v_state, v_state = 'waiting'),
    ('queue', 'enabled, neither queue nor owner held', case when v_queue is null then 'in no queue'
                                           when not v_queue.enabled then format('queue %s is disabled', v_queue.task_queue_id)
                                           when v_queue.held then format('queue %s is held', v_queue.task_queue_id)
                                           when not taskqueue.is_open(v_queue) then format('owner %s is held', v_queue.owner_dn)
                                           else format('queue %s is open', v_queue.task_queue_id) end,
     taskqueue.is_open(v_queue)),
    ('JobID', 'job ' || p_job_id, coalesce('wants job ' || v_offer.job_id, 'any job'), coalesce(v_offer.job_id = p_job_id, true));
end $$;

comment on function taskqueue.explain_match(text, bigint, jsonb) is
'Why a job matches a resource description or not: one row a condition. The job can be matched by the resource exactly when all hold; whether it is the next one is drawn. Errors: PB001 (description), PB002 (setup not granted), PB004 (no such job, or its requirements are forgotten).';
-- file: taskqueue/family_of.sql
-- Section 9: queues equal but for Sites, BannedSites and RAM are one family.
create or replace function taskqueue.family_of(p_requirements jsonb) returns uuid
language sql immutable
as $$
  select md5((p_requirements - '{Sites,BannedSites,MinRAM,MaxRAM}'::text[])::text)::uuid
$$;

comment on function taskqueue.family_of(jsonb) is
'The family of canonical requirements: md5 of all but Sites, BannedSites, MinRAM and MaxRAM (section 9).';
-- file: taskqueue/fill_queues.sql
-- Jobs into queues, which the caller has locked against deletion. Ids that wait already are moved, whatever queue they are in. Ids are locked in
-- their order, so that two who insert the same ones do not wait for each other crosswise.
create or replace function taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities int[],
                                                 p_identity resource.identity default null) returns void
language plpgsql
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_todo bigint[];
  v_left bigint[];
  v_queue_id bigint;
begin
  loop
    with inserted as (
      insert into taskqueue.job (setup, job_id, task_queue_id, user_priority, inserted_at)
      select p_setup, n.job_id, n.task_queue_id, n.user_priority, v_now
        from unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority)
       where v_todo is null or n.job_id = any (v_todo)
       order by n.job_id
      on conflict (setup, job_id) do nothing
      returning task_queue_id, job_id, user_priority
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, i.task_queue_id, i.user_priority, count(*), min(i.job_id) from inserted i group by i.task_queue_id, i.user_priority
    )
    select array(select unnest(coalesce(v_todo, p_job_ids)) except select i.job_id from inserted i) into v_todo;
    exit when v_todo = '{}';
    with waiting as (
      select j.job_id, j.task_queue_id, j.user_priority, j.held from taskqueue.job j
       where j.setup = p_setup and j.job_id = any (v_todo) order by j.job_id for update
    ), moved as (
      update taskqueue.job j set task_queue_id = n.task_queue_id, user_priority = n.user_priority
        from waiting w join unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority) using (job_id)
       where j.setup = p_setup and j.job_id = w.job_id
      returning j.job_id, w.task_queue_id as old_queue_id, w.user_priority as old_priority, j.task_queue_id, j.user_priority, w.held
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, c.queue_id, c.user_priority, sum(c.change), min(m.job_id) filter (where c.change > 0)
        from moved m
       cross join lateral (values (m.old_queue_id, m.old_priority, -1), (m.task_queue_id, m.user_priority, 1)) c (queue_id, user_priority, change)
       where not m.held
       group by c.queue_id, c.user_priority
      having sum(c.change) <> 0 or count(*) filter (where c.change > 0) > 0
    )
    select array_agg(distinct m.old_queue_id), array(select unnest(v_todo) except select m.job_id from moved m)
      into v_left, v_todo from moved m;
    if p_identity.private then  -- the rows are locked, and were moved before this looks at whose they were
      perform taskqueue.may_submit(p_identity, d.requirements)
         from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
        where q.setup = p_setup and q.task_queue_id = any (v_left);
    end if;
    foreach v_queue_id in array coalesce(v_left, '{}') loop
      perform taskqueue.drop_if_empty(p_setup, v_queue_id);
    end loop;
    exit when v_todo = '{}';
  end loop;
end $$;

comment on function taskqueue.fill_queues(text, bigint[], bigint[], int[], resource.identity) is
'Inserts jobs into queues, one named for each, or moves those that wait already there, with their counts. Errors: PB002 (a private submitter would move the job of another).';
-- file: taskqueue/find_matching.sql
-- The definitions that match a description whatever its CPUTime and the limits of the moment, as of one snapshot. Kept with the description where they
-- are few; else only that they are many, so that nobody counts them again.
create or replace function taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) returns taskqueue.known_offer
language plpgsql
as $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_snapshot pg_snapshot;
  v_ids bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  if v_offer.owner_groups is not null then  -- a private pilot: by the index of owners
    select pg_current_snapshot(), array(
             select d.definition_id from taskqueue.definition d
              where d.setup = p_setup and d.owner_group = any (v_offer.owner_groups) and taskqueue.accepts(d, v_offer))
      into v_snapshot, v_ids;
  else
    select pg_current_snapshot(), array(select d.definition_id from taskqueue.definition d where d.setup = p_setup and taskqueue.accepts(d, v_offer))
      into v_snapshot, v_ids;
  end if;
  perform taskqueue.keep_matching(p_setup, p_known, v_ids, v_snapshot);
  p_known.matching := case when cardinality(v_ids) <= 500 then v_ids end;
  p_known.matched_at := now();
  return p_known;
end $$;

comment on function taskqueue.find_matching(text, taskqueue.known_offer) is
'A known description with the definitions that match it, found out by testing each.';
-- file: taskqueue/finish_job.sql
-- Section 8. The same call again, its answer lost, is answered the same: the token of the last attempt is kept with the ended job.
create or replace function taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text default 'finished') returns text
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform resource.identify(p_setup);
  if p_outcome is null or p_outcome not in ('finished', 'failed', 'cancelled', 'closed') then
    raise exception 'outcome is %, which is not an end of a job', coalesce(quote_literal(p_outcome), 'null')
      using errcode = 'PB001', hint = 'Give finished, failed, cancelled or closed.';
  end if;
  perform taskqueue.enter(p_setup);
  -- The lock waits for the same call when it is still running (its client gave up on it); what it did is then to be seen.
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then
    perform from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if exists (select from taskqueue.ended e
              where e.setup = p_setup and e.job_id = p_job_id and e.outcome = p_outcome
                and taskqueue.attempt_text(e.attempts, e.token) = p_attempt) then
    return p_outcome;
  end if;
  perform taskqueue.end_lease(taskqueue.lease_of(p_setup, p_job_id, p_attempt), p_outcome);
  return p_outcome;
end $$;

comment on function taskqueue.finish_job(text, bigint, text, text) is
'Ends a leased job: finished, failed, cancelled or closed. The same call again is no error. Errors: PB001 (outcome), PB002 (setup not granted), PB003 (stale attempt).';
-- file: taskqueue/first_site.sql
-- Section 4, condition 5: with several sites offered, one and the same must be accepted and not banned.
create or replace function taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) returns text
language sql immutable
as $$
  select min(s) from unnest(p_offered) s where (cardinality(p_sites) = 0 or s = any (p_sites)) and not s = any (p_banned_sites)
$$;

comment on function taskqueue.first_site(text[], text[], text[]) is
'The first of the offered sites that a queue accepts and does not ban; null = none. It is the site of the lease.';
-- file: taskqueue/fold_counts.sql
-- after: taskqueue.job_level
-- A new base for the counts of a queue, by one match in sixteen (some nine changes are then read at a time) and by taskqueue.maintain. What this transaction itself changed stays a change: it may change more after this. Two who count at the same
-- time both write a count that is right; nobody waits, and nothing is updated.
create or replace function taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) returns bigint
language sql
as $$
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, p_task_queue_id, s.known_to,
         array(select x from pg_snapshot_xip(s.snapshot) x union all select s.own where s.own < s.known_to), n.jobs, n.first_ids
    from (select pg_current_snapshot() as snapshot, pg_snapshot_xmax(pg_current_snapshot()) as known_to, pg_current_xact_id() as own) s
   cross join lateral (
          select array_agg(coalesce(l.jobs, 0) order by i.level) as jobs, array_agg(f.job_id order by i.level) as first_ids, sum(l.changes) as changes
            from generate_series(0, 10) i (level)
            left join taskqueue.job_level(p_setup, p_task_queue_id, s.own) l on l.user_priority = i.level
            left join lateral (select j.job_id from taskqueue.job j
                                where j.setup = p_setup and j.task_queue_id = p_task_queue_id and not j.held and j.user_priority = l.user_priority
                                  and j.job_id >= coalesce(l.first_id, 0)
                                order by j.job_id limit 1) f on true) n
   where n.changes > 0
  returning 1::bigint
$$;

comment on function taskqueue.fold_counts(text, bigint) is
'Counts the changes of a queue into a new base; null where there were none. The counts read the same before and after.';
-- file: taskqueue/fold_weights.sql
-- The rows of each owner become one, in one transaction with those that go: the sums are the same before, after, and if it is undone.
-- What another transaction is folding is passed over: nobody waits.
create or replace function taskqueue.fold_weights(p_setup text, p_group text) returns void
language sql
as $$
  with gone as (
    delete from taskqueue.owner_weight d where d.ctid = any (array(
      select w.ctid from taskqueue.owner_weight w
       where w.setup = p_setup and w.owner_group = p_group
         and (w.owner_dn, w.light) in (select m.owner_dn, m.light from taskqueue.owner_weight m
                                        where m.setup = p_setup and m.owner_group = p_group group by 1, 2 having count(*) > 1)
         for update skip locked))
    returning d.owner_dn, d.light, d.queues, d.weight
  )
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
  select p_setup, p_group, g.owner_dn, g.light, sum(g.queues), sum(g.weight) from gone g
   group by g.owner_dn, g.light having sum(g.queues) <> 0 or sum(g.weight) <> 0
$$;

comment on function taskqueue.fold_weights(text, text) is
'Makes the rows of taskqueue.owner_weight of an owner group few again, without changing their sums.';
-- file: taskqueue/forget_ended.sql
-- Ended jobs are kept so that an id is known and its attempts go on counting; this forgets them.
create or replace function taskqueue.forget_ended(p_setup text, p_older_than interval default '1 day') returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_count bigint;
begin
  perform resource.identify(p_setup);
  if p_older_than is null or p_older_than < interval '0' then
    raise exception 'older_than is %', coalesce(p_older_than::text, 'null') using errcode = 'PB001', hint = 'Give an interval, not negative.';
  end if;
  delete from taskqueue.ended e where e.setup = p_setup and e.ended_at <= resource.clock(p_setup) - p_older_than;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

comment on function taskqueue.forget_ended(text, interval) is
'Forgets the jobs that ended at least that long ago; returns how many. Their attempts start at 1 if the ids come again. Errors: PB001, PB002 (setup not granted).';
-- file: taskqueue/forget_offers.sql
-- What known descriptions mean depends on settings, groups, compatible platforms and limits. Whoever changes these keeps everybody else out
-- (taskqueue.reconfigure), so that nobody writes down what was true before.
create or replace function taskqueue.forget_offers(p_setup text) returns void
language sql
as $$
  delete from taskqueue.known_offer k where k.setup = p_setup
$$;

comment on function taskqueue.forget_offers(text) is
'Forgets the descriptions that were parsed, because a configuration changes. The caller has called taskqueue.reconfigure.';
-- file: taskqueue/free_slots.sql
-- Section 7: a job that ends or goes back gives its slots back. Those that a lowered limit has too many go with the next match.
-- Rows of its own alone: nobody else deletes its uses, and nobody has a free slot of the same number, so this waits for nobody.
create or replace function taskqueue.free_slots(p_setup text, p_job_id bigint) returns void
language sql
as $$
  with gone as (
    delete from taskqueue.limit_use u where u.setup = p_setup and u.job_id = p_job_id returning u.limit_id, u.slot
  )
  insert into taskqueue.limit_slot (setup, limit_id, slot) select p_setup, g.limit_id, g.slot from gone g;
$$;

comment on function taskqueue.free_slots(text, bigint) is 'Gives back the limit slots of a job.';
-- file: taskqueue/hold.sql
-- Section 8.
create or replace function taskqueue.hold(p_setup text, p_kind text, p_name text) returns bigint
language sql
security definer set search_path = taskqueue, pg_temp
as $$
  select taskqueue.set_held(p_setup, p_kind, p_name, true)
$$;

comment on function taskqueue.hold(text, text, text) is
'Holds a waiting job (id), an owner (OwnerDN; its present and future queues) or a queue (id): not matched until let go. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';
-- file: taskqueue/holds_attempt.sql
-- Section 8: whether an attempt is the one that has the job, without a lock.
create or replace function taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) returns boolean
language sql stable
as $$
  select exists (select from taskqueue.lease l
                  where l.setup = p_setup and l.job_id = p_job_id and taskqueue.attempt_text(l.attempt, l.token) = p_attempt)
$$;

comment on function taskqueue.holds_attempt(text, bigint, text) is 'Whether the attempt has the job now.';
-- file: taskqueue/insert_job.sql
-- Section 3.
create or replace function taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority int default 1,
                                                p_request_id uuid default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_requirements jsonb;
  v_asked uuid := md5(jsonb_build_array(p_job_id, p_requirements, p_user_priority)::text)::uuid;
  v_answer jsonb;
  v_made bigint[];
begin
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_job', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_requirements := taskqueue.canonical_requirements(p_setup, p_requirements);
  perform taskqueue.may_submit(v_identity, v_requirements);
  -- Batches with the same id may lock crosswise with this: who PostgreSQL picks gives way and begins anew,
  -- a moment later, so that it does not meet the same ones again.
  for v_try in 1..20 loop
    begin
      select to_jsonb(p.task_queue_id), p.made into v_answer, v_made
        from taskqueue.place_jobs(p_setup, v_requirements, array[taskqueue.job_id(to_jsonb(p_job_id))],
                                  array[taskqueue.job_priority(p_job_id, p_user_priority)], v_identity) p;
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert job % again and again', p_job_id using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_job', v_asked, v_answer);
  return v_answer::bigint;
end $$;

comment on function taskqueue.insert_job(text, bigint, jsonb, int, uuid) is
'Inserts a waiting job and returns its TaskQueue; an id that waits already is moved. The same request id within ten minutes gives the same answer. Errors: PB001 (requirements, id, priority; section 3), PB002 (setup or owner not granted), PB005 (leased), PB006 (others insert the same job again and again).';
-- file: taskqueue/insert_jobs.sql
-- Section 3: the batch form, and the fast way to load.
create or replace function taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid := case when p_request_id is not null then md5(p_jobs::text)::uuid end;
  v_answer jsonb;
  v_count bigint;
  v_made bigint[];
begin
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_jobs', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_count := taskqueue.check_batch(p_jobs);
  -- Two batches with the same ids under different requirements may lock them crosswise: who PostgreSQL picks gives way and begins anew,
  -- a moment later, so that it does not meet the same ones again.
  for v_try in 1..20 loop
    begin
      v_made := taskqueue.place_batch(v_identity, p_jobs);
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert the same jobs' using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_jobs', v_asked, to_jsonb(v_count));
  return v_count;
end $$;

comment on function taskqueue.insert_jobs(text, jsonb, uuid) is
'Inserts jobs, up to 100,000 a call, all or none, and returns how many. An element is {job_id, requirements, user_priority} or a group {requirements, jobs: [[id, user_priority], ...]}. Errors: PB001, PB002, PB005, naming the job; PB006 (others insert the same jobs again and again).';
-- file: taskqueue/is_background.sql
-- Section 9: background queues (tp <= 0.1, where the group allows it).
create or replace function taskqueue.is_background(p_weight float8, p_allow_background boolean) returns boolean
language sql immutable
as $$
  select p_allow_background and p_weight <= 0.1
$$;

comment on function taskqueue.is_background(float8, boolean) is 'Whether a queue of this mean draw weight is background in its group.';
-- file: taskqueue/is_foreign.sql
-- Counts and known descriptions say up to which transaction they know. In a database restored from a dump these are another server's.
create or replace function taskqueue.is_foreign(p_setup text) returns boolean
language sql stable
as $$
  select exists (select from taskqueue.job_count c where c.setup = p_setup and c.known_to > pg_snapshot_xmax(pg_current_snapshot()))
      or exists (select from taskqueue.definition d where d.setup = p_setup and d.made_in > pg_snapshot_xmax(pg_current_snapshot())
                    and d.made_in is distinct from pg_current_xact_id_if_assigned())
      or exists (select from taskqueue.known_offer k where k.setup = p_setup and k.known_to > pg_snapshot_xmax(pg_current_snapshot()))
$$;

comment on function taskqueue.is_foreign(text) is
'Whether a setup was restored from another server and taskqueue.rebuild_matching was not called since.';
-- file: taskqueue/is_news.sql
-- Which calls note their resource (taskqueue.see_resource): the first of a description or of a CPU bucket, else one in fifty, in ten where nothing matched.
create or replace function taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) returns boolean
language sql
as $$
  select p_known.seen_at is null or random() < case when p_matched then 0.02 else 0.1 end
      or not coalesce(p_known.cpu_buckets[width_bucket(p_cpu_time, p_known.cpu_buckets)], 0)::bigint = any (p_known.seen)
$$;

comment on function taskqueue.is_news(taskqueue.known_offer, bigint, boolean) is
'Whether a call that found a job or not is to note its resource.';
-- file: taskqueue/is_open.sql
-- A queue is matched while it is enabled and neither it nor its owner is held; exactly then it is posted, or about to be.
create or replace function taskqueue.is_open(p_queue taskqueue.task_queue) returns boolean
language sql stable
as $$
  select p_queue.posted
      or p_queue.enabled and not p_queue.held
         and exists (select from taskqueue.unposted u where u.setup = p_queue.setup and u.task_queue_id = p_queue.task_queue_id)
         and not exists (select from taskqueue.held_owner h where h.setup = p_queue.setup and h.owner_dn = p_queue.owner_dn)
$$;

comment on function taskqueue.is_open(taskqueue.task_queue) is 'Whether a TaskQueue may be matched: enabled, and neither it nor its owner held.';
-- file: taskqueue/job_id.sql
-- Section 3: a job id is a positive bigint.
create or replace function taskqueue.job_id(p_value jsonb, p_key text default 'job_id') returns bigint
language plpgsql immutable
as $$
declare
  v_id numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    v_id := p_value::numeric;
    if v_id between 1 and 9223372036854775807 and v_id = trunc(v_id) then
      return v_id;
    end if;
  end if;
  raise exception '% is %, which is not a positive bigint', p_key, coalesce(p_value::text, 'missing')
    using errcode = 'PB001', hint = 'Job ids are integers within 1..9223372036854775807.';
end $$;

comment on function taskqueue.job_id(jsonb, text) is 'A job id from JSON, checked. Errors: PB001.';
-- file: taskqueue/job_level.sql
-- Architecture, Hot rows: counts are a base and changes. The base is the newest count of the queue, the changes those that its snapshot did not see:
-- two ranges of an index, however many rows were there before or could not be removed yet. One statement reads it all.
create or replace function taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8 default null)
returns table (user_priority smallint, jobs bigint, changes bigint, first_id bigint)
language sql stable
rows 3
as $$
  select n.user_priority, sum(n.jobs)::bigint, sum(n.changes)::bigint, min(n.first_id)
    from (select b.jobs, b.first_ids, b.known_to, b.in_flight from taskqueue.job_count b
           where b.setup = p_setup and b.task_queue_id = p_task_queue_id
           order by b.known_to desc, b.count_id desc limit 1) t
   cross join lateral (
          select (l.number - 1)::smallint as user_priority, l.jobs, 0 as changes, l.first_id
            from unnest(t.jobs, t.first_ids) with ordinality l (jobs, first_id, number)
           where l.jobs <> 0
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in >= t.known_to and c.made_in is distinct from p_except
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in = any (t.in_flight) and c.made_in is distinct from p_except) n
   group by n.user_priority
$$;

comment on function taskqueue.job_level(text, bigint, xid8) is
'Waiting jobs of a queue that are not held by user priority, how many changes had to be read, and an id below which there is none; without what the transaction p_except changed.';
-- file: taskqueue/job_priority.sql
-- Section 3: user priority is an integer 0..10, others are refused.
create or replace function taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) returns int
language plpgsql immutable
as $$
begin
  if p_user_priority between 0 and 10 and p_user_priority = trunc(p_user_priority) then
    return p_user_priority;
  end if;
  raise exception 'user_priority of job % is %, which is not an integer within 0..10', p_job_id, coalesce(p_user_priority::text, 'null')
    using errcode = 'PB001', hint = '1..10 weigh as they are, 0 is background.';
end $$;

comment on function taskqueue.job_priority(bigint, numeric) is 'The user priority of a job, checked. Errors: PB001.';
-- file: taskqueue/jobs_in.sql
-- after: taskqueue.job_level
create or replace function taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) returns bigint
language sql stable
as $$
  select coalesce(sum(l.jobs), 0)::bigint from taskqueue.job_level(p_setup, p_task_queue_id) l
$$;

comment on function taskqueue.jobs_in(text, bigint) is 'Waiting jobs of a queue that are not held.';
-- file: taskqueue/keep_answer.sql
-- Section 3: see taskqueue.answer_given.
create or replace function taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) returns void
language sql
as $$
  insert into taskqueue.request (setup, role_name, request_id, call, asked, answer, made_at)
  select p_identity.setup, p_identity.role_name, p_request_id, p_call, p_asked, p_answer, resource.clock(p_identity.setup)
   where p_request_id is not null
  on conflict (setup, role_name, request_id) do update
     set call = excluded.call, asked = excluded.asked, answer = excluded.answer, made_at = excluded.made_at
$$;

comment on function taskqueue.keep_answer(resource.identity, uuid, text, uuid, jsonb) is
'Keeps the answer of a request for ten minutes (taskqueue.maintain forgets it).';
-- file: taskqueue/keep_matching.sql
-- This transaction may make more definitions, so it counts as in flight.
-- In an unlogged table, so that a call without a match writes no WAL. Whoever finds the row locked leaves it: nobody waits.
create or replace function taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) returns void
language sql
as $$
  update taskqueue.known_offer k
     set matching = case when cardinality(p_ids) <= 500 then p_ids end, matched_at = now(),
         known_to = pg_snapshot_xmax(p_snapshot), in_flight = array(select x from pg_snapshot_xip(p_snapshot) x) || pg_current_xact_id_if_assigned()
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource for update skip locked))
$$;

comment on function taskqueue.keep_matching(text, taskqueue.known_offer, bigint[], pg_snapshot) is
'Writes down which definitions match a description, as of a snapshot; more than 500 are not written down.';
-- file: taskqueue/known_offer_of.sql
-- What a description says is parsed once (30 us), and found again by its hash (5 us): JobAgents of a site send the same one again and again but for
-- CPUTime. A description with JobID is not worth keeping.
create or replace function taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) returns taskqueue.known_offer
language plpgsql
as $$
declare
  v_known taskqueue.known_offer;
  v_resource jsonb;
  v_digest bigint;
  v_cpu_time numeric;
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' then p_resource - '{CPUTime,JobID}'::text[] end;
  if p_identity.private then
    v_resource := v_resource || jsonb_build_object('OwnerDN', p_identity.owner_dn, 'OwnerGroup', p_identity.owner_group);
  end if;
  v_digest := jsonb_hash_extended(v_resource, 0);
  if jsonb_typeof(p_resource -> 'CPUTime') = 'number' and not p_resource ? 'JobID' then
    v_cpu_time := (p_resource -> 'CPUTime')::numeric;
    select k.* into v_known from taskqueue.known_offer k where k.setup = p_setup and k.digest = v_digest and k.resource = v_resource limit 1;
  end if;
  if v_known.digest is not null and v_cpu_time >= 0 and v_cpu_time < 1e300 then
    v_known.offer.cpu_time := floor(least(v_cpu_time, 9223372036854775807));
    if (v_known.offer).limited then
      v_known.offer := taskqueue.with_limits(p_setup, p_resource, v_known.offer);
    end if;
    return v_known;
  end if;
  v_known.setup := p_setup;
  v_known.digest := v_digest;
  v_known.resource := v_resource;
  v_known.offer := taskqueue.offer_of(p_setup, p_resource, p_identity);
  v_known.seen := '{}';
  v_known.tests := taskqueue.tests_of(v_known.offer);
  v_known.cpu_buckets := array(select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time);
  select coalesce(s.ten_first, false), coalesce(s.policy, 'dirac'), coalesce(s.lease_time, '30 minutes') into v_known.ten_first, v_known.policy, v_known.lease_time
    from (values (1)) one left join taskqueue.setting s on s.setup = p_setup;
  if (v_known.offer).job_id is null and v_cpu_time is not null
     and exists (select from resource.setup s where s.setup = p_setup) and pg_try_advisory_xact_lock(v_digest) then
    insert into taskqueue.known_offer select v_known.*;
  end if;
  return v_known;
end $$;

comment on function taskqueue.known_offer_of(text, jsonb, resource.identity) is
'A resource description, parsed or known from before. Errors: PB001, naming key and value (taskqueue.offer_of).';
-- file: taskqueue/lease_batch.sql
-- after: taskqueue.lease_jobs
-- Sections 4 to 6 for a batch: the draws of its jobs side by side, each a stream of its own, in three statements instead of six a job.
-- The law is that of one after the other: what a queue is drawn by does not depend on the jobs it has, so all streams draw a queue first; of those that
-- drew the same queue, one at a time picks a job. Where that does not hold it goes on from where it stands one by one (taskqueue.lease_jobs): from the first
-- stream on whose queue is then empty, or that drew many points in vain or saw all lists; where a job was locked or just taken; and as a whole for
-- resources with limits, and for those that few queues match.
create or replace function taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
as $$
declare
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_secret uuid := gen_random_uuid();
  v_streams taskqueue.stream[];
  v_leased taskqueue.stream[] := '{}'::taskqueue.stream[];
  v_turn bigint := 0;
  v_stop int;  -- the first stream that is to be gone on with one by one
  v_queue record;
begin
  if p_limit > 2 then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
    v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  end if;
  if p_limit <= 2 or v_offer.limited or v_offer.job_id is not null or v_known.matching is not null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, p_limit, p_seed);
    return;
  end if;
  with recursive point as (
    select n as number, hashint8extended(n, coalesce(p_seed, uuid_hash_extended(v_secret, 0))) as seed, width_bucket(v_offer.cpu_time, v_known.cpu_buckets) as entry,
           0 as points, 0::float8 as above, null::bigint as task_queue_id, null::bigint as definition_id, 8 as most
      from generate_series(1, p_limit) n
    union all
    select p.number, p.seed, case when o.enough is null then p.entry - 1 else p.entry end,
           case when o.enough is null then 0 else p.points + 1 end, case when o.enough is null then 0 else o.key end,
           case when f.fits then o.task_queue_id end, case when f.fits then (o.definition).definition_id end,
           case when o.enough is null then 8 else greatest(p.most, case when v_known.matched_at is null then least(o.enough, 32) else o.enough end) end
      from point p
      left join lateral taskqueue.queue_point(p_setup, v_sites, v_known.cpu_buckets[p.entry]::bigint, p.above, v_known.policy,
                                              p.seed # ((p.entry * 1000000::bigint + p.points + 1) * 64), v_offer, v_known.tests) o on true
     cross join lateral (
           select o.task_queue_id is not null
                  and coalesce(o.fits, taskqueue.accepts(o.definition, v_offer)
                                       and (cardinality(v_sites) <= 2 or o.site = '*'
                                            or o.site = taskqueue.first_site(v_offer.sites, (o.definition).sites, (o.definition).banned_sites))) as fits offset 0) f
     where p.task_queue_id is null and p.entry > 0 and p.points < p.most)
  select array_agg(e.stream order by (e.stream).number), coalesce(min((e.stream).number) filter (where (e.stream).task_queue_id is null), p_limit + 1)
    into v_streams, v_stop
    from (select row(p.number, p.seed, p.entry, p.points, p.above, p.task_queue_id, p.definition_id, row_number() over (partition by p.task_queue_id order by p.number),
                     null, null, null, null)::taskqueue.stream as stream
            from point p where p.task_queue_id is not null or p.entry = 0 or p.points >= p.most) e;
  loop
    v_turn := v_turn + 1;
    exit when not exists (select from unnest(v_streams) s where s.turn = v_turn and s.number < v_stop);
    with picked as materialized (
      select s.*, f.job_id as picked_id, f.jobs as jobs_now
        from unnest(v_streams) s
        left join lateral taskqueue.pick_job(p_setup, s.task_queue_id, v_known.ten_first, v_known.policy, s.seed # 4) f on true
       where s.turn = v_turn and s.number < v_stop
    ), stop as materialized (
      select least(v_stop, min(s.number)) as number from unnest(v_streams) s
        join picked p on p.task_queue_id = s.task_queue_id where s.turn - v_turn >= coalesce(p.jobs_now, 0)
    ), gone as (
      delete from taskqueue.job j
       where j.setup = p_setup and j.ctid = any (array(select l.ctid from picked p
                                                         join taskqueue.job l on l.setup = p_setup and l.job_id = p.picked_id and l.task_queue_id = p.task_queue_id
                                                        where p.number < (select t.number from stop t) and not l.held for update of l skip locked))
      returning j.job_id, j.task_queue_id, j.user_priority, j.attempts + 1 as attempt
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
      select p_setup, g.task_queue_id, g.user_priority, -1 from gone g
    ), leased as (
      insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
      select p_setup, g.job_id, g.attempt, md5(v_secret || '/' || p.number)::uuid, g.task_queue_id, p.definition_id, g.user_priority,
             case when cardinality(v_offer.sites) = 1 then v_offer.sites[1] else taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites) end,
             case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1] else taskqueue.first_site(v_offer.grid_ces, d.grid_ces, '{}') end,
             resource.caller(), t.now, t.now + v_known.lease_time
        from gone g
        join picked p on p.task_queue_id = g.task_queue_id
        join taskqueue.definition d on d.setup = p_setup and d.definition_id = p.definition_id
        join resource.setup_time t on t.setup = p_setup
      returning lease.job_id, lease.task_queue_id, lease.user_priority, taskqueue.attempt_text(lease.attempt, lease.token) as attempt
    )
    select v_leased || array_agg(row(p.number, p.seed, p.entry, p.points, p.above, p.task_queue_id, p.definition_id, p.turn, p.jobs_now,
                                     l.job_id, l.user_priority, l.attempt)::taskqueue.stream),
           (select t.number from stop t)
      into v_leased, v_stop
      from leased l join picked p on p.task_queue_id = l.task_queue_id;
  end loop;
  return query
    select s.job_id, s.task_queue_id, d.requirements, s.user_priority::int, s.attempt
      from unnest(v_leased) s
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
     order by s.number;
  for v_queue in select s.task_queue_id, s.jobs from unnest(v_leased) s where s.jobs <= 1 or s.seed & 15 = 0 loop
    if v_queue.jobs <= 1 then
      perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
    else
      perform taskqueue.fold_counts(p_setup, v_queue.task_queue_id);
      perform taskqueue.post_pending(p_setup);
    end if;
  end loop;
  if cardinality(v_leased) < p_limit then
    return query
      select m.* from taskqueue.lease_jobs(p_setup, p_resource, p_limit - cardinality(v_leased), p_seed,
                                           array(select s from unnest(v_streams) s where s.number <> all (array(select l.number from unnest(v_leased) l)) order by s.number)) m;
  end if;
  if taskqueue.is_news(v_known, v_offer.cpu_time, v_leased <> '{}' or found) then
    perform taskqueue.see_resource(p_setup, p_resource, v_known, v_leased <> '{}' or found);
  end if;
end $$;

comment on function taskqueue.lease_batch(text, jsonb, int, bigint) is
'Leases up to p_limit jobs to a resource, drawn side by side; given a seed, the draws follow from it. Errors: PB001 (description), PB002 (setup not granted).';
-- file: taskqueue/lease_jobs.sql
-- after: taskqueue.queue_point
-- after: taskqueue.drawn_queues
-- after: taskqueue.pick_job
-- after: taskqueue.is_news
-- Sections 4 to 6: jobs for a resource, one after the other, each with its own draws. CPU buckets from the highest down, queues in drawn order, user
-- priorities in drawn order, one of the first ten. Empty and locked candidates are passed over; the others keep their keys, so
-- the law holds over the rest.
-- Queues are drawn one after the other (taskqueue.queue_point), not sorted, so that a match costs the same whatever their number. After enough
-- points in vain (eight where there are few queues, else a hundred and more) the rest of the bucket is drawn a key a queue, given that all are above the last point. The first time
-- that 32 points were in vain the definitions that match are found out (taskqueue.find_matching) and kept with the description where they are few;
-- so a resource that matches nothing gets its answer at once.
-- Rejected: a key a queue, sorted (0.5 us a queue); conditions before the sort (1.7 us a queue); order statistics a band (0.9 us a band); eight points at a
-- time by a window (39 us, against 22 a point, of which 1.4 are needed); one statement for all (its 45 plan nodes cost 100 us more to set up).
-- What is set up anew in each call costs most here: a statement 1 us and 2 to 3 a table, an expression of this language 1 us a transaction.
-- So it is one function with few of both.
create or replace function taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null, p_streams taskqueue.stream[] default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
rows 1
as $$
declare
  v_resource jsonb;
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_token uuid;
  v_seed bigint;
  v_entry int;
  v_points int;
  v_most int;  -- points, after which the rest of the bucket is drawn a key a queue
  v_above float8;
  v_definition_ids bigint[];  -- among which a key a queue is drawn; null: by points
  v_next bigint[];
  v_passed bigint[];
  v_queue record;
  v_pick record;
  v_job record;
  v_free boolean := true;
  v_listed boolean := false;  -- there are queues that the sites may see
  v_slots jsonb;
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' then p_resource - 'CPUTime' end;
  select k.* into v_known
    from resource.identity i
    join taskqueue.known_offer k on k.setup = p_setup and k.digest = jsonb_hash_extended(v_resource, 0) and k.resource = v_resource
   where i.setup = p_setup and i.role_name = resource.caller() and not i.private
   limit 1;
  if v_known.digest is null
     or (case when jsonb_typeof(p_resource -> 'CPUTime') = 'number' then (p_resource -> 'CPUTime')::numeric between 0 and 1e18 end) is not true then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
  else
    v_offer := v_known.offer;
    v_offer.cpu_time := floor((p_resource -> 'CPUTime')::numeric);
  end if;
  v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  for v_number in 1..p_limit loop
    job_id := null;
    v_token := gen_random_uuid();
    v_seed := case when p_seed is null then uuid_hash_extended(v_token, 0) else hashint8extended(v_number, p_seed) end;  -- not random(): an agent could set that
    if v_offer.limited then
      v_offer := taskqueue.with_limits(p_setup, p_resource, v_offer);
    end if;
    for v_look in 0..1 loop
      v_entry := width_bucket(v_offer.cpu_time, v_known.cpu_buckets);
      v_points := 0;
      v_most := 8;
      v_above := 0;
      v_passed := '{}'::bigint[];
      v_next := null;
      v_definition_ids := null;
      if p_streams is not null and v_look = 0 then
        v_seed := (p_streams[v_number]).seed;
        v_entry := (p_streams[v_number]).entry;
        v_points := (p_streams[v_number]).points;
        v_above := (p_streams[v_number]).above;
        v_next := array[(p_streams[v_number]).task_queue_id];
        v_most := case when v_next[1] is null then v_points else 100 end;
        v_listed := true;
      end if;
      if v_offer.job_id is not null then
        v_entry := 0;
        v_next := taskqueue.wanted_queue(p_setup, v_offer);
      elsif v_known.matching is not null then
        v_definition_ids := v_known.matching || taskqueue.new_matching(p_setup, v_known);
      end if;
      loop
        if v_next <> '{}' then
          select q.task_queue_id, d.definition_id, d.requirements, d.sites, d.banned_sites, d.grid_ces into v_queue
            from taskqueue.task_queue q
            join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
           where q.setup = p_setup and q.task_queue_id = v_next[1] and (q.posted or v_offer.job_id is not null);  -- who wants a job does not need the lists
          v_next := v_next[2:];
          continue when not found;
        elsif v_entry = 0 then
          exit;
        elsif v_definition_ids is not null then
          v_next := taskqueue.drawn_queues(p_setup, v_offer, v_definition_ids, v_known.cpu_buckets[v_entry]::bigint, v_above, v_passed, v_known.policy, v_seed # 8 # v_look);
          if v_next = '{}' then
            exit when v_known.matching is not null;
            v_definition_ids := null;
            v_entry := v_entry - 1;
            v_points := 0;
            v_most := 8;
            v_above := 0;
          end if;
          continue;
        elsif v_points >= v_most then
          if v_points >= 32 and v_known.matched_at is null then
            v_known := taskqueue.find_matching(p_setup, v_known);
          end if;
          v_definition_ids := coalesce(v_known.matching, array(
            select distinct q.definition_id
              from taskqueue.task_queue q
             where q.setup = p_setup and q.task_queue_id = any (array(
                   select p.task_queue_id from taskqueue.posted_queue p
                    where p.setup = p_setup and p.site = any (v_sites) and p.cpu_time = v_known.cpu_buckets[v_entry]::bigint))));
          continue;
        else
          v_points := v_points + 1;
          select o.enough, o.key, o.task_queue_id, o.site, (o.definition).definition_id, (o.definition).requirements, (o.definition).sites, (o.definition).banned_sites,
                 (o.definition).grid_ces, o.task_queue_id <> all (v_passed) and o.fits as fits  -- null: to be looked at more closely
            into v_queue
            from taskqueue.queue_point(p_setup, v_sites, v_known.cpu_buckets[v_entry]::bigint, v_above, v_known.policy, v_seed # ((v_entry * 1000000::bigint + v_points) * 64 + v_look),
                                       v_offer, v_known.tests) o;
          if not found then
            v_entry := v_entry - 1;
            v_points := 0;
            v_most := 8;
            v_above := 0;
            continue;
          end if;
          v_listed := true;
          v_above := v_queue.key;
          v_most := greatest(v_most, case when v_known.matched_at is null then least(v_queue.enough, 32) else v_queue.enough end);
          if v_queue.fits is null and v_queue.task_queue_id is not null then  -- where several sites are offered, a queue counts in the list of one of them
            select taskqueue.accepts(d, v_offer)
                   and (cardinality(v_sites) <= 2 or v_queue.site = '*' or v_queue.site = taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites)) into v_free
              from taskqueue.definition d where d.setup = p_setup and d.definition_id = v_queue.definition_id;
            continue when v_free is not true;
          else
            continue when v_queue.fits is not true;
          end if;
        end if;

        if v_offer.limited then
          select l.taken, l.slots into v_free, v_slots from taskqueue.lock_slots(p_setup, v_queue.requirements, v_offer) l;
          if not v_free then
            v_passed := v_passed || v_queue.task_queue_id;
            continue;
          end if;
        end if;
        if v_offer.job_id is null then
          select f.job_id, f.jobs into v_pick from taskqueue.pick_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4) f;
        else
          select v_offer.job_id, 0::bigint as jobs into v_pick;
        end if;
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (select l.ctid from taskqueue.job l
                                                where l.setup = p_setup and l.job_id = v_pick.job_id and l.task_queue_id = v_queue.task_queue_id and not l.held
                                                  for update skip locked)
        returning j.job_id, j.user_priority, j.attempts + 1 as attempt into v_job;
        if v_job.job_id is null and v_offer.job_id is null then
          select t.job_id, t.user_priority, t.attempts + 1 as attempt into v_job
            from taskqueue.take_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4) t;
        end if;
        if v_job.job_id is null then
          perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
          v_passed := v_passed || v_queue.task_queue_id;
          continue;
        end if;
        insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
        values (p_setup, v_queue.task_queue_id, v_job.user_priority, -1);
        insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
        select p_setup, v_job.job_id, v_job.attempt, v_token, v_queue.task_queue_id, v_queue.definition_id, v_job.user_priority,
               case when cardinality(v_offer.sites) = 1 then v_offer.sites[1] else taskqueue.first_site(v_offer.sites, v_queue.sites, v_queue.banned_sites) end,
               case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1] else taskqueue.first_site(v_offer.grid_ces, v_queue.grid_ces, '{}') end,
               resource.caller(), t.now, t.now + v_known.lease_time
          from resource.setup_time t where t.setup = p_setup;
        if v_slots <> '[]' then
          perform taskqueue.use_slots(p_setup, v_job.job_id, v_slots);
        end if;
        if coalesce(v_pick.jobs, 0) <= 1 then
          perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
        elsif v_seed & 15 = 0 then
          perform taskqueue.fold_counts(p_setup, v_queue.task_queue_id);
          perform taskqueue.post_pending(p_setup);
        end if;
        job_id := v_job.job_id;
        task_queue_id := v_queue.task_queue_id;
        requirements := v_queue.requirements;
        user_priority := v_job.user_priority;
        attempt := taskqueue.attempt_text(v_job.attempt, v_token);
        return next;
        exit;
      end loop;
      exit when job_id is not null or v_look = 1 or not taskqueue.post_pending(p_setup);
    end loop;
    if v_number = 1 and p_streams is null and taskqueue.is_news(v_known, v_offer.cpu_time, job_id is not null) then
      v_known.offer := v_offer;
      perform taskqueue.see_resource(p_setup, p_resource, v_known, job_id is not null);
    end if;
    if v_known.matched_at is null and v_listed and job_id is null then
      v_known := taskqueue.find_matching(p_setup, v_known);
    end if;
    exit when job_id is null or v_offer.job_id is not null;
  end loop;
end $$;

comment on function taskqueue.lease_jobs(text, jsonb, int, bigint, taskqueue.stream[]) is
'Leases up to p_limit jobs to a resource; given a seed, the draws follow from it; given streams, they go on. Errors: PB001 (description), PB002 (setup not granted).';
-- file: taskqueue/lease_of.sql
-- Section 8: every call about a leased job needs the token of its attempt; an agent learns only that its own is stale.
create or replace function taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) returns taskqueue.lease
language plpgsql
as $$
declare
  v_lease taskqueue.lease;
begin
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then  -- who is stale does not wait for who holds the job
    select l.* into v_lease from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if taskqueue.attempt_text(v_lease.attempt, v_lease.token) = p_attempt then
    return v_lease;
  end if;
  raise exception 'attempt % of job % is stale', coalesce(split_part(p_attempt, '-', 1), 'null'), coalesce(p_job_id::text, 'null')
    using errcode = 'PB003', hint = 'The job was given back, has ended, or was given to another agent: stop working on it.';
end $$;

comment on function taskqueue.lease_of(text, bigint, text) is
'The lease of a job, locked, if the attempt is its own. Errors: PB003 (stale).';
-- file: taskqueue/let_go.sql
-- Section 8.
create or replace function taskqueue.let_go(p_setup text, p_kind text, p_name text) returns bigint
language sql
security definer set search_path = taskqueue, pg_temp
as $$
  select taskqueue.set_held(p_setup, p_kind, p_name, false)
$$;

comment on function taskqueue.let_go(text, text, text) is
'Lets go what taskqueue.hold holds. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';
-- file: taskqueue/list_of.sql
-- One list of canonical requirements.
create or replace function taskqueue.list_of(p_requirements jsonb, p_key text) returns text[]
language plpgsql immutable
as $$
begin
  if p_requirements ? p_key then
    return array(select e from jsonb_array_elements_text(p_requirements -> p_key) e order by 1);
  end if;
  return '{}'::text[];  -- at once: nine lists are looked for, most are not there
end $$;

comment on function taskqueue.list_of(jsonb, text) is
'The values of a list of canonical requirements, sorted; empty where it is absent.';
-- file: taskqueue/lists.sql
-- Whether requirements list a value: one text or number, or a list.
create or replace function taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) returns boolean
language sql immutable
as $$
  select case jsonb_typeof(p_requirements -> p_attribute)
           when 'array' then p_requirements -> p_attribute ? p_value
           else p_requirements ->> p_attribute = p_value
         end
$$;

comment on function taskqueue.lists(jsonb, text, text) is
'Whether canonical requirements list the value under the key; null where they do not have the key.';
-- file: taskqueue/load_leases.sql
-- World format: leases as taskqueue.dump_leases gives them. Their agents go on with the attempts they hold. Limits that are
-- there count them, and nobody is inside meanwhile.
create or replace function taskqueue.load_leases(p_setup text, p_leases jsonb) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_lease record;
  v_count bigint := 0;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  if jsonb_typeof(p_leases) is distinct from 'array' then
    raise exception 'leases are %, not a JSON array', coalesce(left(p_leases::text, 100), 'null') using errcode = 'PB001', hint = 'Give leases as taskqueue.dump_leases writes them.';
  end if;
  for v_lease in
    select * from jsonb_to_recordset(p_leases) as l (id bigint, requirements jsonb, user_priority numeric, state text, attempt text, site text,
                                                     ce text, role text, matched_at timestamp, reported_at timestamp, expires_at timestamp, kill_reason text)
     order by l.id
  loop
    if v_lease.attempt is null or v_lease.attempt !~ '^[1-9][0-9]{0,8}-[0-9a-f]{32}$' then
      raise exception 'attempt of lease % is %', v_lease.id, coalesce(quote_literal(v_lease.attempt), 'null')
        using errcode = 'PB001', hint = 'An attempt is <number>-<32 hex digits>, as taskqueue.dump_leases writes it.';
    elsif v_lease.state is null or v_lease.state not in ('matched', 'running') or v_lease.role is null or v_lease.matched_at is null or v_lease.expires_at is null then
      raise exception 'lease % has state %, role %, matched_at %, expires_at %', v_lease.id, coalesce(v_lease.state, 'null'), coalesce(v_lease.role, 'null'),
            coalesce(v_lease.matched_at::text, 'null'), coalesce(v_lease.expires_at::text, 'null')
        using errcode = 'PB001', hint = 'A lease has state (matched or running), role, matched_at and expires_at.';
    elsif exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = v_lease.id) then
      raise exception 'job % waits: it cannot be leased, too', v_lease.id
        using errcode = 'PB005', hint = 'Load leases into a setup where these jobs do not wait.';
    end if;
    perform taskqueue.note_end(l, 'replaced') from taskqueue.lease l
      where l.setup = p_setup and l.job_id = v_lease.id and taskqueue.attempt_text(l.attempt, l.token) <> v_lease.attempt;
    insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, state, site, grid_ce, role_name,
                                 matched_at, reported_at, expires_at, kill_reason)
    values (p_setup, taskqueue.job_id(to_jsonb(v_lease.id)), split_part(v_lease.attempt, '-', 1)::int, split_part(v_lease.attempt, '-', 2)::uuid, 0,
            taskqueue.definition_of(p_setup, taskqueue.canonical_requirements(p_setup, v_lease.requirements)), taskqueue.job_priority(v_lease.id, v_lease.user_priority), v_lease.state,
            v_lease.site, v_lease.ce, v_lease.role, v_lease.matched_at at time zone 'UTC', v_lease.reported_at at time zone 'UTC',
            v_lease.expires_at at time zone 'UTC', v_lease.kill_reason)
    on conflict (setup, job_id) do update
       set attempt = excluded.attempt, token = excluded.token, definition_id = excluded.definition_id, user_priority = excluded.user_priority,
           state = excluded.state, site = excluded.site, grid_ce = excluded.grid_ce, role_name = excluded.role_name, matched_at = excluded.matched_at,
           reported_at = excluded.reported_at, expires_at = excluded.expires_at, kill_reason = excluded.kill_reason;
    delete from taskqueue.ended e where e.setup = p_setup and e.job_id = v_lease.id;
    v_count := v_count + 1;
  end loop;
  perform taskqueue.set_slots(p_setup, l.limit_id) from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running';
  return v_count;
end $$;

comment on function taskqueue.load_leases(text, jsonb) is
'Stores leases as taskqueue.dump_leases gives them, replacing those of the same jobs (in the history: replaced), and returns how many. Errors: PB001, PB002 (setup not granted), PB005 (a job waits), PB006 (busy).';
-- file: taskqueue/load_task_queues.sql
-- World format, task_queues: each element becomes a TaskQueue of its own, as large as it is, so that what was dumped comes back as it was
-- (insert_jobs would fill siblings up to queue_size instead). In the order of the digests, so that two loads never wait crosswise.
create or replace function taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_bad jsonb;
  v_count bigint;
  v_ten_first boolean;
  v_queue record;
  v_id bigint;
  v_made bigint[] := '{}'::bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  select e into v_bad from jsonb_array_elements(case jsonb_typeof(p_task_queues) when 'array' then p_task_queues else '[]' end) e
   where jsonb_typeof(e -> 'jobs') is distinct from 'array' or jsonb_typeof(coalesce(e -> 'enabled', 'true')) <> 'boolean'
   limit 1;
  if found then
    raise exception 'this element is not a task queue: %', left(v_bad::text, 200)
      using errcode = 'PB001', hint = 'An element is {requirements, enabled, jobs: [[id, user_priority], ...]}; enabled is true or false.';
  end if;
  v_count := taskqueue.check_batch(case when jsonb_typeof(p_task_queues) <> 'array' then p_task_queues
                                        else (select coalesce(jsonb_agg(e - 'enabled'), '[]') from jsonb_array_elements(p_task_queues) e) end);
  select s.ten_first into strict v_ten_first from taskqueue.setting s where s.setup = p_setup;
  for v_queue in
    select r.requirements, coalesce((e.element ->> 'enabled')::boolean, true) as enabled, j.ids, j.levels
      from jsonb_array_elements(p_task_queues) with ordinality e (element, number)
     cross join lateral (select taskqueue.canonical_requirements(p_setup, e.element -> 'requirements') as requirements) r
     cross join lateral (
            select array_agg((j -> 0)::bigint order by (j -> 0)::bigint) as ids, array_agg(coalesce(j -> 1, '1')::int order by (j -> 0)::bigint) as levels
              from jsonb_array_elements(e.element -> 'jobs') j) j
     where cardinality(j.ids) > 0
     order by md5(r.requirements::text)::uuid, e.number
  loop
    v_id := taskqueue.make_queue(p_setup, taskqueue.definition_of(p_setup, v_queue.requirements),
                                 (select avg(taskqueue.weight(l, v_ten_first)) from unnest(v_queue.levels) l));
    if not v_queue.enabled then
      update taskqueue.task_queue q set enabled = false where q.setup = p_setup and q.task_queue_id = v_id;
    end if;
    v_made := v_made || v_id;
    perform taskqueue.fill_queues(p_setup, array_fill(v_id, array[cardinality(v_queue.ids)]), v_queue.ids, v_queue.levels);
    perform taskqueue.settle_ids(p_setup, v_queue.ids);
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  return v_count;
end $$;

comment on function taskqueue.load_task_queues(text, jsonb) is
'Opens a TaskQueue for each element {requirements, enabled, jobs: [[id, user_priority], ...]}, up to 100,000 jobs a call, all or none; jobs that wait already are moved there. Returns how many jobs. For operators: dumps, workloads. Errors: PB001, PB002 (setup not granted), PB005 (leased).';
-- file: taskqueue/lock_queue.sql
-- The row of a queue, for who changes its postings. Agents never wait for this lock: they pass the queue over when they find it empty.
create or replace function taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) returns void
language plpgsql
as $$
begin
  perform from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update;
  if not found then
    raise exception 'there is no TaskQueue % in setup %', coalesce(p_task_queue_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Look into monitor.task_queue; an empty queue disappears.';
  end if;
end $$;

comment on function taskqueue.lock_queue(text, bigint) is 'Locks the row of a TaskQueue until the transaction ends. Errors: PB004 (no such queue).';
-- file: taskqueue/lock_slots.sql
-- Section 7: before a job is taken, one free slot of every running limit that its queue counts at is locked, and the clock of every delay
-- moved on; a slot or clock that another transaction has locked makes the limit look reached until that ends. Nobody waits.
-- Nothing but a match ever locks the rows locked here, also where it gives up with rows still locked: a free slot is never the row of a job
-- that is to end. (When both were one row, a match that saw a slot free which had been taken since locked it, and the job waited to end.)
create or replace function taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, out taken boolean, out slots jsonb)
language plpgsql
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_limit taskqueue.site_limit;
  v_slots int[];
  v_owed int[];
  v_surplus bigint;
begin
  slots := '[]';
  for v_limit in
    select l.* from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1] and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and taskqueue.lists(p_requirements, l.attribute, l.value)
     order by l.kind, l.limit_id
  loop
    if v_limit.kind = 'running' then
      -- After a limit was lowered, a match needs as many free slots as are too many and one more, and takes the former away. (Taking
      -- away each slot above the ceiling when its job ends would let jobs in at the others, with too many still running.)
      -- Which are too many are rows, too, so that no two matches take away for the same one: a limit would be left with too few.
      v_surplus := taskqueue.surplus_slots(p_setup, v_limit.limit_id);
      v_slots := array(select s.slot from taskqueue.limit_slot s
                        where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot > 0
                        limit v_surplus + 1 for update skip locked);
      taken := cardinality(v_slots) > v_surplus;
      if taken and v_surplus > 0 then
        v_owed := array(select s.slot from taskqueue.limit_slot s
                         where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot < 0 for update skip locked);
        taken := cardinality(v_owed) = v_surplus;
        if taken then
          delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot = any (v_owed || v_slots[2:]);
        end if;
      end if;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id, 'slot', v_slots[1]);
    else
      select true into taken from taskqueue.site_limit l
       where l.setup = p_setup and l.limit_id = v_limit.limit_id and coalesce(l.next_at, v_now) <= v_now + (l.burst - 1) * l.delay
         for no key update skip locked;
      taken := found;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id);
    end if;
    if not taken then
      return;
    end if;
  end loop;
  taken := true;
end $$;

comment on function taskqueue.lock_slots(text, jsonb, taskqueue.offer) is
'Locks what the limits of the site ask of a job with these requirements; taken = false: one of them is reached. taskqueue.use_slots books it.';
-- file: taskqueue/maintain.sql
-- What goes on in the background: called every few seconds by `broker maintain`, pg_cron or whoever. Safe to run twice at once; each step
-- passes over what somebody else has locked.
create or replace function taskqueue.maintain(p_setup text default null) returns table (step text, changed bigint)
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_setting taskqueue.setting;
begin
  for v_setting in select s.* from taskqueue.setting s where p_setup is null or s.setup = p_setup order by s.setup loop
    perform resource.identify(v_setting.setup);
    return query select m.step, m.changed from taskqueue.maintain_setup(v_setting) m;
  end loop;
  if p_setup is null then
    step := 'history partitions';
    changed := 0;
    begin
      changed := taskqueue.make_history_partitions();
    exception when lock_not_available then
      null;  -- somebody reads the history for long: next time
    end;
    return next;
  end if;
end $$;

comment on function taskqueue.maintain(text) is
'Background work of one setup or all: recomputes the shares of groups whose queues changed, folds counts, removes empty queues and forgotten definitions and requests, rolls up the resources seen; for all setups also makes and drops history partitions. Returns what it did, a row a step. Errors: PB002 (setup not granted).';
-- file: taskqueue/maintain_setup.sql
-- taskqueue.maintain for one setup.
create or replace function taskqueue.maintain_setup(p_setting taskqueue.setting) returns table (step text, changed bigint)
language plpgsql
as $$
declare
  v_setup text := p_setting.setup;
  v_queue_ids bigint[];
  v_definition_ids bigint[];
  v_now timestamptz := resource.clock(p_setting.setup);
begin
  step := 'shares';
  select coalesce(sum(taskqueue.recompute_shares(v_setup, g.owner_group)), 0) into changed
    from (select m.owner_group from taskqueue.share_mark m where m.setup = v_setup
           group by m.owner_group having min(m.marked_at) <= v_now - p_setting.share_delay / 2) g;
  return next;
  step := 'counts';
  v_queue_ids := array(select distinct i.task_queue_id from taskqueue.job_count_change i where i.setup = v_setup);
  if taskqueue.is_foreign(v_setup) then
    perform taskqueue.rebuild_matching(v_setup);
  end if;
  select coalesce(sum(taskqueue.fold_counts(v_setup, i)), 0) into changed from unnest(v_queue_ids) i;
  changed := changed + taskqueue.clean_counts(v_setup);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- means drift as jobs come and go: a tenth is worth a new price
  select distinct v_setup, q.owner_group, v_now
    from taskqueue.task_queue q
   cross join lateral taskqueue.weight_of_queue(q, p_setting.ten_first) w
   where q.setup = v_setup and q.task_queue_id = any (v_queue_ids) and abs(w.weight - q.mean_weight) > 0.1 * q.mean_weight;
  return next;
  step := 'empty queues';
  changed := taskqueue.delete_empty_queues(v_setup);
  return next;
  step := 'lists';
  changed := taskqueue.post_pending(v_setup, 100000)::int + taskqueue.close_gaps(v_setup);
  return next;
  step := 'definitions';
  -- locked first, looked at then: a job inserted and matched in between is seen
  v_definition_ids := array(select i.definition_id from taskqueue.definition i
                             where i.setup = v_setup and i.created_at < v_now - interval '1 hour'
                               and not exists (select from taskqueue.task_queue q where q.setup = i.setup and q.definition_id = i.definition_id)
                               and not exists (select from taskqueue.lease l where l.setup = i.setup and l.definition_id = i.definition_id)
                               for update skip locked);
  delete from taskqueue.definition d
   where d.setup = v_setup and d.definition_id = any (v_definition_ids)
     and not exists (select from taskqueue.task_queue q where q.setup = d.setup and q.definition_id = d.definition_id)
     and not exists (select from taskqueue.lease l where l.setup = d.setup and l.definition_id = d.definition_id);
  get diagnostics changed = row_count;
  return next;
  step := 'requests';
  delete from taskqueue.request r where r.ctid = any (array(
    select i.ctid from taskqueue.request i where i.setup = v_setup and i.made_at < v_now - interval '10 minutes' for update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'known offers';
  delete from taskqueue.known_offer k where k.ctid = any (array(
    select i.ctid from taskqueue.known_offer i where i.setup = v_setup and i.seen_at < v_now - interval '10 minutes' for update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'resources seen';
  changed := taskqueue.roll_up_resources(v_setup);
  return next;
end $$;

comment on function taskqueue.maintain_setup(taskqueue.setting) is 'Background work of one setup; see taskqueue.maintain.';
-- file: taskqueue/make_history_partitions.sql
-- Architecture, History: partitions by day made ahead, a default partition catches the rest, pruning is a drop. A day whose events are in
-- the default partition already stays there. All setups share the partitions, so the longest retention counts.
create or replace function taskqueue.make_history_partitions(p_days int default 3) returns bigint
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  v_changed bigint := 0;
  v_day date;
  v_name text;
  v_oldest date := (now() at time zone 'utc')::date - (select coalesce(ceil(extract(epoch from max(s.history_kept)) / 86400), 30)::int from taskqueue.setting s);
begin
  for v_day in select generate_series((now() at time zone 'utc')::date, (now() at time zone 'utc')::date + p_days, interval '1 day')::date loop
    v_name := 'history_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('taskqueue.' || v_name) is not null
               or exists (select from taskqueue.history_default h where h.at >= v_day::timestamp at time zone 'utc' and h.at < (v_day + 1)::timestamp at time zone 'utc');
    execute format('create table taskqueue.%I partition of taskqueue.history for values from (%L) to (%L)', v_name,
                   v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    v_changed := v_changed + 1;
  end loop;
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'taskqueue.history'::regclass and c.relname ~ '^history_[0-9]{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < v_oldest
  loop
    execute format('drop table taskqueue.%I', v_name);
    v_changed := v_changed + 1;
  end loop;
  return v_changed;
end $$;

comment on function taskqueue.make_history_partitions(int) is
'Makes the partitions of the history for today (UTC) and the days ahead, and drops those beyond the retention; returns how many changed.';
-- file: taskqueue/make_queue.sql
-- A new TaskQueue with all its rows, in one transaction: nobody sees it before its requirements (in DIRAC one could).
-- The columns and tables written here are the truth that taskqueue.rebuild_matching starts from.
create or replace function taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight float8) returns bigint
language plpgsql
as $$
declare
  v_definition taskqueue.definition;
  v_id bigint;
begin
  select d.* into strict v_definition from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_definition_id;
  insert into taskqueue.task_queue (setup, definition_id, owner_dn, owner_group, cpu_time, min_ram, max_ram, priority, mean_weight, created_at)
  values (p_setup, p_definition_id, v_definition.owner_dn, v_definition.owner_group, v_definition.cpu_time, v_definition.min_ram,
          (v_definition.requirements ->> 'MaxRAM')::float8, 0.001, p_weight, resource.clock(p_setup))
  returning task_queue_id into v_id;
  perform taskqueue.note_weight(p_setup, v_definition.owner_group, v_definition.owner_dn, p_weight, 1);
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  values (p_setup, v_id, '0', '{}', array_fill(0, array[11]), array_fill(null::bigint, array[11]));
  -- most lists are empty, and inserting nothing takes 8 us each
  if v_definition.sites <> '{}' then
    insert into taskqueue.task_queue_site (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.sites);
  end if;
  if v_definition.platforms <> '{}' then
    insert into taskqueue.task_queue_platform (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.platforms);
  end if;
  if v_definition.job_types <> '{}' then
    insert into taskqueue.task_queue_job_type (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.job_types);
  end if;
  if v_definition.banned_sites <> '{}' then
    insert into taskqueue.task_queue_banned_site (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.banned_sites);
  end if;
  if v_definition.grid_ces <> '{}' then
    insert into taskqueue.task_queue_grid_ce (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.grid_ces);
  end if;
  if v_definition.pilot_types <> '{}' then
    insert into taskqueue.task_queue_pilot_type (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.pilot_types);
  end if;
  if v_definition.tags <> '{}' then
    insert into taskqueue.task_queue_tag (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.tags);
  end if;
  if v_definition.requirements ? 'SubmitPools' then
    insert into taskqueue.task_queue_submit_pool (setup, task_queue_id, value)
    select p_setup, v_id, unnest(taskqueue.list_of(v_definition.requirements, 'SubmitPools'));
  end if;
  if v_definition.requirements ? 'GridMiddlewares' then
    insert into taskqueue.task_queue_grid_middleware (setup, task_queue_id, value)
    select p_setup, v_id, unnest(taskqueue.list_of(v_definition.requirements, 'GridMiddlewares'));
  end if;
  return v_id;
end $$;

comment on function taskqueue.make_queue(text, bigint, float8) is
'Makes a TaskQueue of the definition; the weight is the mean draw weight of its first jobs. The caller ends with taskqueue.open_queues. Returns its id.';
-- file: taskqueue/match.sql
-- A match is a lease, and a row of the history from the end of the lease on: so a match writes one row less. Who counts matches reads both here.
create or replace view taskqueue.match as
select h.setup, h.at, h.job_id, h.attempt, h.task_queue_id, h.definition_id, h.cpu_time, h.owner_group, h.owner_dn, h.user_priority, h.site, h.grid_ce, h.role_name
  from taskqueue.history h
 where h.event = 'matched'
union all
select l.setup, l.matched_at, l.job_id, l.attempt, l.task_queue_id, l.definition_id, d.cpu_time, d.owner_group, d.owner_dn, l.user_priority, l.site, l.grid_ce, l.role_name
  from taskqueue.lease l
  join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id;

comment on view taskqueue.match is 'Every match: in the history once its lease has ended, until then in the lease.';
comment on column taskqueue.match.setup is 'Tenant.';
comment on column taskqueue.match.at is 'When.';
comment on column taskqueue.match.job_id is 'Job.';
comment on column taskqueue.match.attempt is 'Number of the attempt.';
comment on column taskqueue.match.task_queue_id is 'TaskQueue it was taken from; 0 = loaded from a dump.';
comment on column taskqueue.match.definition_id is 'Its requirements.';
comment on column taskqueue.match.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.match.owner_group is 'Owner group.';
comment on column taskqueue.match.owner_dn is 'Owner.';
comment on column taskqueue.match.user_priority is 'User priority.';
comment on column taskqueue.match.site is 'Site that got it.';
comment on column taskqueue.match.grid_ce is 'CE that got it.';
comment on column taskqueue.match.role_name is 'Database role that asked.';
-- file: taskqueue/match_job.sql
-- after: taskqueue.lease_jobs
-- Sections 4 and 5: which waiting job should the worker node that just asked get (seed 004).
-- The planner's settings: a plan made while job_count_change or resource_seen is empty reads them whole, and stays when they have grown
-- (p99 5.0 ms instead of 1.2 at 5,000 matches after a vacuum); one plan for all calls spares a connection its first five.
create or replace function taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
rows 1
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform taskqueue.enter(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, 1);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, 1, p_request_id);
  end if;
end $$;

comment on function taskqueue.match_job(text, jsonb, uuid) is
'Leases one waiting job to a resource; no row: nothing matches now. Later calls about the job present the attempt. The same request id within ten minutes gives the same job. Errors: PB001 (description; section 4), PB002 (setup not granted).';
-- file: taskqueue/match_jobs.sql
-- after: taskqueue.lease_batch
-- Sections 4 and 5, the batch form: up to p_limit jobs for one resource in one call, each drawn by the same law. For its settings see taskqueue.match_job.
create or replace function taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit int, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'limit is %, which is not within 1..1000', coalesce(p_limit::text, 'null') using errcode = 'PB001', hint = 'Ask for 1 to 1000 jobs.';
  end if;
  perform taskqueue.enter(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_batch(p_setup, p_resource, p_limit);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, p_limit, p_request_id);
  end if;
end $$;

comment on function taskqueue.match_jobs(text, jsonb, int, uuid) is
'Leases up to p_limit (1..1000) waiting jobs to a resource; no row: nothing matches now. The same request id within ten minutes gives the same jobs. Errors: PB001 (description; section 4), PB002 (setup not granted).';
-- file: taskqueue/match_jobs_with_seed.sql
-- Section 5: given a seed, the outcome is reproducible. For operators and tests; agents cannot choose their draws.
create or replace function taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit int, p_seed bigint)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform taskqueue.enter(p_setup);
  return query select * from taskqueue.lease_batch(p_setup, p_resource, p_limit, p_seed);
end $$;

comment on function taskqueue.match_jobs_with_seed(text, jsonb, int, bigint) is
'taskqueue.match_jobs with draws that follow from a seed: the same seed over the same queues takes the same jobs. Errors: PB001, PB002.';
-- file: taskqueue/match_once.sql
-- after: taskqueue.lease_batch
-- Section 3: a match with a request id; the same call again gives the same jobs.
create or replace function taskqueue.match_once(p_setup text, p_resource jsonb, p_limit int, p_request_id uuid)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid;
  v_answer jsonb;
begin
  v_asked := md5(jsonb_build_array(p_resource, p_limit)::text)::uuid;
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'match_jobs', v_asked);
  if v_answer is null then
    select jsonb_agg(to_jsonb(m)) into v_answer from taskqueue.lease_batch(p_setup, p_resource, p_limit) m;
    if v_answer is null then
      return;
    end if;
    perform taskqueue.keep_answer(v_identity, p_request_id, 'match_jobs', v_asked, v_answer);
  end if;
  return query select * from jsonb_to_recordset(v_answer) as (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text);
end $$;

comment on function taskqueue.match_once(text, jsonb, int, uuid) is
'taskqueue.match_jobs for a request that may be repeated. Errors: PB001 (description), PB002 (setup not granted).';
-- file: taskqueue/matching_queues.sql
-- Section 10: lists the matching queues and takes nothing; pilot submission uses it.
create or replace function taskqueue.matching_queues(p_setup text, p_resource jsonb)
returns table (task_queue_id bigint, cpu_time bigint, priority float8, jobs bigint, requirements jsonb)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
begin
  return query
    select q.task_queue_id, q.cpu_time, q.priority, n.jobs, d.requirements
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral taskqueue.jobs_in(q.setup, q.task_queue_id) n (jobs)
     where q.setup = p_setup and taskqueue.is_open(q) and n.jobs > 0 and taskqueue.accepts(d, v_offer)
       and (v_offer.job_id is null
            or q.task_queue_id = (select j.task_queue_id from taskqueue.job j where j.setup = p_setup and j.job_id = v_offer.job_id and not j.held))
     order by q.cpu_time desc, q.priority desc, q.task_queue_id;
end $$;

comment on function taskqueue.matching_queues(text, jsonb) is
'The open TaskQueues that match a resource description, with their jobs that are not held, highest CPU bucket and priority first. Errors: PB001 (description), PB002 (setup not granted).';
-- file: taskqueue/may_submit.sql
-- A private submitter submits for its own group and owner only (architecture, Roles).
create or replace function taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) returns void
language plpgsql stable
as $$
begin
  if p_identity.private and (p_requirements ->> 'OwnerGroup' <> p_identity.owner_group or p_requirements ->> 'OwnerDN' <> p_identity.owner_dn) then
    raise exception 'role % may not submit for OwnerDN % in OwnerGroup %', p_identity.role_name, p_requirements ->> 'OwnerDN', p_requirements ->> 'OwnerGroup'
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'), coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

comment on function taskqueue.may_submit(resource.identity, jsonb) is
'Refuses jobs of others than the private submitter is. Errors: PB002.';
-- file: taskqueue/may_touch.sql
-- A private submitter touches its own jobs only (architecture, Roles). What it is told of others' is that they are not its own.
create or replace function taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) returns void
language plpgsql stable
as $$
begin
  if p_identity.private and not exists (
       select from taskqueue.definition d
        where d.setup = p_identity.setup and d.definition_id = p_definition_id
          and (p_identity.owner_group is null or d.owner_group = p_identity.owner_group)
          and (p_identity.owner_dn is null or d.owner_dn = p_identity.owner_dn)) then
    raise exception 'job % is not one of role %', p_job_id, p_identity.role_name
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'), coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

comment on function taskqueue.may_touch(resource.identity, bigint, bigint) is
'Refuses the job of others than the private submitter is; the definition is the job''s. Errors: PB002.';
-- file: taskqueue/measure_lists.sql
-- after: taskqueue.ceiling_of_band
-- What taskqueue.queue_point needs to know of a list beside its postings. The caller has locked the lists, so that nobody appends meanwhile; a queue
-- that goes leaves an empty place, which is right too. Only the bands named are looked at: what it costs goes with the bands, not with the queues.
create or replace function taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands int[]) returns void
language sql
as $$
  with measured as (
    select b.list_id, array_agg(b.band) as bands, array_agg(b.places) as places
      from (select i.list_id, i.band, (select max(p.place) from taskqueue.posting p where p.setup = p_setup and p.list_id = i.list_id and p.band = i.band) as places
              from (select distinct u.list_id, u.band from unnest(p_list_ids, p_bands) u (list_id, band)) i) b
     group by b.list_id
  )
  update taskqueue.posting_list l
     set bands = coalesce(m.bands, '{}'), places = coalesce(m.places, '{}'), ceilings = coalesce(m.ceilings, '{}'), sums = coalesce(m.sums, '{}'),
         rate = coalesce(m.rate, 0), top = coalesce(m.top, 0), room = coalesce(m.room, 0)
    from measured i
    join taskqueue.posting_list o on o.setup = p_setup and o.list_id = i.list_id
   cross join lateral (
          select array_agg(b.band order by b.band) as bands, array_agg(b.places order by b.band) as places, array_agg(b.ceiling order by b.band) as ceilings,
                 array_agg(b.sum order by b.band) as sums, max(b.sum) as rate, max(b.ceiling) as top, sum(b.places) as room
            from (select n.band, n.places, n.ceiling, sum(n.places * n.ceiling) over (order by n.band) as sum
                    from (select k.band, k.places, k.ceiling from unnest(o.bands, o.places, o.ceilings) k (band, places, ceiling)
                           where k.band <> all (i.bands)
                          union all
                          select c.band, c.places, taskqueue.ceiling_of_band(c.band) from unnest(i.bands, i.places) c (band, places)
                           where c.places is not null) n) b) m
   where l.setup = p_setup and l.list_id = i.list_id
$$;

comment on function taskqueue.measure_lists(text, bigint[], int[]) is
'Writes down how many places some bands of some lists have (pairs of list and band).';
-- file: taskqueue/new_matching.sql
-- Definitions made since those that match were found out are tested each time, until they are so many that it pays to write the result down.
create or replace function taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) returns bigint[]
language plpgsql
as $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_snapshot pg_snapshot;
  v_new bigint;
  v_ids bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  select pg_current_snapshot(), count(*), coalesce(array_agg(d.definition_id) filter (where taskqueue.accepts(d, v_offer) and d.definition_id <> all (p_known.matching)), '{}')
    into v_snapshot, v_new, v_ids
    from (select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in >= p_known.known_to
          union all
          select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in = any (p_known.in_flight)) d;
  if v_new >= 64 then
    perform taskqueue.keep_matching(p_setup, p_known, p_known.matching || v_ids, v_snapshot);
  end if;
  return v_ids;
end $$;

comment on function taskqueue.new_matching(text, taskqueue.known_offer) is
'The definitions made since taskqueue.find_matching that match a description.';
-- file: taskqueue/note_end.sql
-- after: taskqueue.match
-- after: taskqueue.note_event
-- The end of a lease, and with it its match, as the lease has it, at the time it was made.
create or replace function taskqueue.note_end(p_lease taskqueue.lease, p_event text) returns void
language sql
as $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn, user_priority, site, grid_ce, role_name)
  select p_lease.setup, p_lease.matched_at, p_lease.job_id, p_lease.attempt, 'matched', p_lease.task_queue_id, p_lease.definition_id, d.cpu_time, d.owner_group, d.owner_dn,
         p_lease.user_priority, p_lease.site, p_lease.grid_ce, p_lease.role_name
    from taskqueue.definition d
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  select taskqueue.note_event(p_lease, p_event);
$$;

comment on function taskqueue.note_end(taskqueue.lease, text) is 'Writes the match and the end of a lease into the history.';
-- file: taskqueue/note_event.sql
-- History of a lease. Its match is written with its end; until then the lease itself says it (taskqueue.match).
create or replace function taskqueue.note_event(p_lease taskqueue.lease, p_event text) returns void
language sql
as $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority, site, grid_ce, role_name)
  values (p_lease.setup, resource.clock(p_lease.setup), p_lease.job_id, p_lease.attempt, p_event, p_lease.task_queue_id, p_lease.definition_id,
          p_lease.user_priority, p_lease.site, p_lease.grid_ce, resource.caller())
$$;

comment on function taskqueue.note_event(taskqueue.lease, text) is 'Writes an event of a lease into the history.';
-- file: taskqueue/note_weight.sql
-- after: taskqueue.is_background
create or replace function taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight float8, p_queues int) returns void
language sql
as $$
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
  values (p_setup, p_group, p_owner, taskqueue.is_background(p_weight, true), p_queues, p_queues * p_weight::numeric)
$$;

comment on function taskqueue.note_weight(text, text, text, float8, int) is
'Notes in taskqueue.owner_weight that an owner has a queue of this mean weight more (1) or fewer (-1).';
-- file: taskqueue/offer_of.sql
-- Section 4: a resource description, checked and parsed. One pass over the keys that are there: it is on the hot path.
create or replace function taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) returns taskqueue.offer
language plpgsql stable
as $$
declare
  v_offer taskqueue.offer;
  v_setting taskqueue.setting;
  v_key text;
  v_value jsonb;
begin
  if jsonb_typeof(p_resource) is distinct from 'object' then
    raise exception 'resource description is %, not a JSON object', coalesce(p_resource::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with CPUTime at least.';
  end if;
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  v_setting.required_keys := coalesce(v_setting.required_keys, '{CPUTime}');
  if not p_resource ?& v_setting.required_keys or v_setting.required_keys <> '{CPUTime}' and exists (
       select from unnest(v_setting.required_keys) k where p_resource -> k in ('null', '[]')) then
    raise exception '% is missing in the resource description',
          (select string_agg(k, ', ') from unnest(v_setting.required_keys) k where coalesce(p_resource -> k, 'null') in ('null', '[]'))
      using errcode = 'PB001', hint = 'These keys are required in this setup: ' || array_to_string(v_setting.required_keys, ', ') || '.';
  end if;
  v_offer.pilot_types := '{}';
  v_offer.tags := '{}';
  if v_setting.strict_keys <> '{}' then
    v_offer.sites := taskqueue.offered('Site', null, v_setting.strict_keys);
    v_offer.grid_ces := taskqueue.offered('GridCE', null, v_setting.strict_keys);
    v_offer.platforms := taskqueue.offered('Platform', null, v_setting.strict_keys);
    v_offer.job_types := taskqueue.offered('JobType', null, v_setting.strict_keys);
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_resource) e loop
    case v_key
      when 'CPUTime' then v_offer.cpu_time := floor(least(taskqueue.one_number(v_key, v_value), 9223372036854775807));
      when 'Site' then v_offer.sites := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'GridCE' then v_offer.grid_ces := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'JobType' then v_offer.job_types := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'Platform' then
        v_offer.platforms := taskqueue.compatible_platforms(p_setup, taskqueue.offered(v_key, v_value, v_setting.strict_keys));
      when 'PilotType' then v_offer.pilot_types := taskqueue.texts(v_key, v_value);
      when 'Tag', 'NumberOfProcessors', 'WholeNode' then null;
      when 'RequiredTag' then v_offer.required_tags := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedSite' then v_offer.banned_sites := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedGridCE' then v_offer.banned_grid_ces := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedPlatform' then v_offer.banned_platforms := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedJobType' then v_offer.banned_job_types := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedTag' then v_offer.banned_tags := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'MaxRAM' then v_offer.max_ram := taskqueue.one_number(v_key, v_value);
      when 'OwnerGroup' then v_offer.owner_groups := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'OwnerDN' then v_offer.owner_dn := taskqueue.one_text(v_key, v_value);
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the match is asked in setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the resource description, or name the same.';
        end if;
      when 'JobID' then
        v_offer.job_id := taskqueue.job_id(v_value, v_key);
      else
        raise exception 'key % (value %) of the resource description is not known', v_key, v_value
          using errcode = 'PB001', hint = 'Known: Setup, OwnerDN, OwnerGroup, CPUTime, PilotType, Site, GridCE, Platform, JobType, Tag, RequiredTag, BannedSite, BannedGridCE, BannedPlatform, BannedJobType, BannedTag, MaxRAM, NumberOfProcessors, WholeNode, JobID.';
    end case;
  end loop;
  v_offer.cpu_time := coalesce(v_offer.cpu_time, 9223372036854775807);
  if p_resource ?| '{Tag,NumberOfProcessors,WholeNode}' then
    v_offer.tags := taskqueue.tags_offered(p_resource);
  end if;
  if not v_offer.required_tags <@ v_offer.tags then
    raise exception 'RequiredTag holds %, which the resource does not offer', p_resource -> 'RequiredTag'
      using errcode = 'PB001', hint = 'RequiredTag must be within what Tag, NumberOfProcessors and WholeNode offer.';
  end if;
  if p_identity.private then
    v_offer.owner_dn := p_identity.owner_dn;
    v_offer.owner_groups := array[p_identity.owner_group];
    if p_identity.owner_group is null then
      v_offer.owner_groups := null;
    end if;
  end if;
  if v_offer.owner_dn is not null and v_offer.owner_groups is not null then
    v_offer.sharing_groups := array(select g.owner_group from taskqueue.owner_group g
                                     where g.setup = p_setup and g.owner_group = any (v_offer.owner_groups) and g.job_sharing);
  end if;
  return taskqueue.with_limits(p_setup, p_resource, v_offer);
end $$;

comment on function taskqueue.offer_of(text, jsonb, resource.identity) is
'A resource description (section 4) as taskqueue.offer; a private identity overrides OwnerDN and OwnerGroup. Errors: PB001, naming key and value.';
-- file: taskqueue/offer_once_made.sql
-- A description that was accepted when it was made may not be any more (a limit was set for one of its sites): it explains nothing then.
create or replace function taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) returns taskqueue.offer
language plpgsql stable
as $$
begin
  return taskqueue.offer_of(p_setup, p_resource, p_identity);
exception when sqlstate 'PB001' then
  return null;
end $$;

comment on function taskqueue.offer_once_made(text, jsonb, resource.identity) is
'taskqueue.offer_of for a description seen before; null where it would be refused now.';
-- file: taskqueue/offered.sql
-- Section 4, condition 4: a key that is absent, empty or contains "any" (any case, surrounding punctuation ignored) puts no condition;
-- absent or empty under strict_keys, it offers nothing.
create or replace function taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) returns text[]
language plpgsql immutable
as $$
declare
  v_texts text[] := taskqueue.texts(p_key, p_value);
begin
  if cardinality(v_texts) = 0 then
    return case when p_key = any (p_strict_keys) then '{}'::text[] end;
  end if;
  if taskqueue.says_any(v_texts) then
    return null;
  end if;
  return v_texts;
end $$;

comment on function taskqueue.offered(text, jsonb, text[]) is
'What a resource offers under a key: null = no condition, empty = nothing. Errors: PB001.';
-- file: taskqueue/offered_text.sql
-- For taskqueue.condition: null = no condition, empty = nothing.
create or replace function taskqueue.offered_text(p_values text[]) returns text
language sql stable
as $$
  select case when cardinality(p_values) = 0 then 'offers none' else array_to_string(p_values, ', ') end
$$;

comment on function taskqueue.offered_text(text[]) is 'What is offered, in words.';
-- file: taskqueue/one_number.sql
-- A JSON value that is one number, not negative. JSON knows no infinity and no NaN; a number too large for a double is refused.
create or replace function taskqueue.one_number(p_key text, p_value jsonb) returns numeric
language plpgsql immutable
as $$
declare
  v_number numeric;
begin
  if jsonb_typeof(p_value) is distinct from 'number' then
    raise exception '% is %, which is not a number', p_key, coalesce(p_value::text, 'missing')
      using errcode = 'PB001', hint = format('Give %s a number, not negative.', p_key);
  end if;
  v_number := p_value::numeric;
  if v_number < 0 or v_number > 1e300 or (v_number > 0 and v_number < 1e-300) then
    raise exception '% is %, which is not within 0..1e300', p_key, p_value
      using errcode = 'PB001', hint = format('Give %s a number, not negative and finite.', p_key);
  end if;
  return v_number;
end $$;

comment on function taskqueue.one_number(text, jsonb) is
'The number of a JSON value, within 0..1e300. Errors: PB001, naming the key.';
-- file: taskqueue/one_text.sql
-- A JSON value that is exactly one text.
create or replace function taskqueue.one_text(p_key text, p_value jsonb) returns text
language plpgsql immutable
as $$
begin
  if jsonb_typeof(p_value) is distinct from 'string' or p_value = '""' then
    raise exception '% is %, which is not a text', p_key, coalesce(p_value::text, 'missing')
      using errcode = 'PB001', hint = format('Give %s one non-empty text.', p_key);
  end if;
  if length(p_value #>> '{}') > 1000 then
    raise exception '% is a text of % characters', p_key, length(p_value #>> '{}') using errcode = 'PB001', hint = 'A text may have 1,000 characters.';
  end if;
  return p_value #>> '{}';
end $$;

comment on function taskqueue.one_text(text, jsonb) is 'The text of a JSON value. Errors: PB001, naming the key.';
-- file: taskqueue/open_queues.sql
-- after: taskqueue.weight_of_queue
-- after: taskqueue.own_priority
-- Section 9: a new queue has its own right priority when it becomes visible; the others of its entity follow (taskqueue.share_mark).
-- Counting the jobs of a queue takes 20 us: up to ten queues of an entity are counted as they are now; with more, their weights are those by which
-- they have their own priorities (taskqueue.owner_weight), which maintenance keeps within a tenth. Two that open queues of an entity at the same
-- time do not see each other's; both leave a mark.
create or replace function taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) returns void
language plpgsql
as $$
declare
  v_entity record;
  v_owners bigint;
  v_queues bigint;
  v_weight float8;
begin
  if p_task_queue_ids = '{}' then
    return;
  end if;
  for v_entity in
    select q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn, coalesce(g.share, 1000) * coalesce(c.factor, 1) as share,
           coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background, s.ten_first,
           array_agg(q.task_queue_id) as ids
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
      left join taskqueue.share_correction c
             on c.setup = q.setup and c.owner_group = q.owner_group and c.owner_dn = case when coalesce(g.job_sharing, false) then '' else q.owner_dn end
     where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     group by 1, 2, 3, 4, 5, 6
  loop
    select count(*), sum(o.queues) filter (where o.mine), sum(o.weight) filter (where o.mine) into v_owners, v_queues, v_weight
      from (select sum(w.queues) as queues, sum(w.weight) filter (where not (w.light and v_entity.allow_background)) as weight,
                   v_entity.job_sharing or w.owner_dn = v_entity.owner_dn as mine
              from taskqueue.owner_weight w where w.setup = p_setup and w.owner_group = v_entity.owner_group
             group by w.owner_dn having sum(w.queues) > 0) o;
    if v_queues <= 10 then
      select sum(w.weight) filter (where not taskqueue.is_background(w.weight, v_entity.allow_background)) into v_weight
        from taskqueue.task_queue q
       cross join lateral taskqueue.weight_of_queue(q, v_entity.ten_first) w
       where q.setup = p_setup and q.owner_group = v_entity.owner_group and (v_entity.job_sharing or q.owner_dn = v_entity.owner_dn);
    end if;
    if v_entity.job_sharing then
      v_owners := 1;
    end if;
    update taskqueue.task_queue q set priority = p.priority
      from (select n.task_queue_id,
                   sum(taskqueue.own_priority(v_entity.share / v_owners, w.weight, v_weight, v_entity.allow_background)) as priority
              from taskqueue.task_queue n
              join taskqueue.definition d on d.setup = n.setup and d.definition_id = n.definition_id
              join taskqueue.definition f on f.setup = d.setup and f.family = d.family
              join taskqueue.task_queue m on m.setup = f.setup and m.definition_id = f.definition_id
             cross join lateral (select m.mean_weight as weight where v_queues > 10
                                 union all
                                 select c.weight from taskqueue.weight_of_queue(m, v_entity.ten_first) c where v_queues <= 10) w
             where n.setup = p_setup and n.task_queue_id = any (v_entity.ids)
             group by n.task_queue_id) p
     where q.setup = p_setup and q.task_queue_id = p.task_queue_id;
    insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_entity.owner_group, resource.clock(p_setup));
    if random() < 1.0 / 16 then
      perform taskqueue.fold_weights(p_setup, v_entity.owner_group);
    end if;
  end loop;
  perform taskqueue.post_queues(p_setup, p_task_queue_ids, false);
end $$;

comment on function taskqueue.open_queues(text, bigint[]) is
'Gives queues that taskqueue.make_queue made in this transaction their priorities (section 9) and their postings.';
-- file: taskqueue/own_priority.sql
-- Section 9: the priority of one queue within its entity, before the sum over its family.
create or replace function taskqueue.own_priority(p_share float8, p_weight float8, p_sum float8, p_allow_background boolean) returns float8
language sql immutable
as $$
  select case when taskqueue.is_background(p_weight, p_allow_background) then 0.001 else greatest(p_share * p_weight / p_sum, 0.001) end
$$;

comment on function taskqueue.own_priority(float8, float8, float8, boolean) is
'Priority of a queue: its part of the share of its entity by mean draw weight, at least 0.001; background queues get 0.001 (section 9).';
-- file: taskqueue/pick_job.sql
-- after: taskqueue.user_priority_order
-- after: taskqueue.draw
-- Section 5, steps 3 and 4: the user priority with the smallest key, and of its first ten jobs by id one. The caller locks it, and looks for another
-- (taskqueue.take_job) where that fails.
create or replace function taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint)
returns table (job_id bigint, user_priority smallint, jobs bigint)
language sql stable
rows 1
as $$
  select f.job_id, o.user_priority, o.jobs
    from (select u.user_priority, u.jobs, u.first_id
            from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u limit 1) o
   cross join lateral (
         select i.job_id from taskqueue.job i
          where i.setup = p_setup and i.task_queue_id = p_task_queue_id and not i.held and i.user_priority = o.user_priority
            and i.job_id >= coalesce(o.first_id, 0)
          order by i.job_id offset floor(taskqueue.draw(o.user_priority, p_seed # 1) * least(o.jobs, 10)) limit 1) f
$$;

comment on function taskqueue.pick_job(text, bigint, boolean, text, bigint) is
'The job of a queue that the draws point at, its user priority, and how many jobs it has. No row: the counts are wrong, or it is empty.';
-- file: taskqueue/place_batch.sql
-- after: taskqueue.queues_with_room
-- The work of taskqueue.insert_jobs. Requirements are made canonical once per distinct text. Jobs for which there is a queue with room for all that
-- come are filled in at once (a queue by itself takes 0.1 ms); the others go in the order of their digests, so that two batches that open the same
-- queues never wait for each other crosswise.
create or replace function taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) returns bigint[]
language plpgsql
as $$
declare
  v_setup text := p_identity.setup;
  v_requirements jsonb[];
  v_digests uuid[];
  v_numbers int[];
  v_job_ids bigint[];
  v_user_priorities int[];
  v_queue_ids bigint[];
  v_batch record;
  v_made bigint[] := '{}'::bigint[];
begin
  with raw as materialized (
    select r.requirements, taskqueue.canonical_requirements(v_setup, r.requirements) as canonical
      from (select distinct e -> 'requirements' as requirements from jsonb_array_elements(p_jobs) e) r
  ), canonical as materialized (
    select c.canonical, c.digest, row_number() over (order by c.digest) as number
      from (select distinct r.canonical, md5(r.canonical::text)::uuid as digest from raw r) c
  ), job as materialized (
    select c.number, n.job_id::bigint as job_id, n.user_priority::int as user_priority
      from jsonb_array_elements(p_jobs) e
      join raw r on r.requirements = e -> 'requirements'
      join canonical c using (canonical)
     cross join lateral (
            select e -> 'job_id' as job_id, coalesce(e -> 'user_priority', '1') as user_priority where not e ? 'jobs'
            union all
            select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n
  )
  select array(select c.canonical from canonical c order by c.number), array(select c.digest from canonical c order by c.number),
         array_agg(j.number), array_agg(j.job_id), array_agg(j.user_priority)
    into v_requirements, v_digests, v_numbers, v_job_ids, v_user_priorities from job j;
  perform taskqueue.may_submit(p_identity, r) from unnest(v_requirements) r;
  with wanted as materialized (
    select d.definition_id, r.number, n.jobs
      from unnest(v_digests) with ordinality r (digest, number)
      join (select u.number, count(*) as jobs from unnest(v_numbers) u (number) group by u.number) n using (number)
      join taskqueue.definition d on d.setup = v_setup and d.digest = r.digest
  ), there as materialized (
    select w.number, q.task_queue_id
      from taskqueue.queues_with_room(v_setup, (select array_agg(i.definition_id) from wanted i),
                                      (select s.queue_size from taskqueue.setting s where s.setup = v_setup)) q
      join wanted w using (definition_id)
     where q.room >= w.jobs
  )
  select array_agg(t.task_queue_id order by n.place) into v_queue_ids
    from unnest(v_numbers) with ordinality n (number, place) left join there t using (number);
  for v_batch in
    select array_agg(n.task_queue_id) as queue_ids, array_agg(n.job_id) as job_ids, array_agg(n.user_priority) as user_priorities
      from unnest(v_queue_ids, v_job_ids, v_user_priorities) n (task_queue_id, job_id, user_priority)
     where n.task_queue_id is not null
    having count(*) > 0
  loop
    perform taskqueue.fill_queues(v_setup, v_batch.queue_ids, v_batch.job_ids, v_batch.user_priorities, p_identity);
    perform taskqueue.settle_ids(v_setup, v_batch.job_ids);
  end loop;
  for v_batch in
    select r.canonical, array_agg(n.job_id order by n.job_id) as job_ids, array_agg(n.user_priority order by n.job_id) as user_priorities
      from unnest(v_numbers, v_queue_ids, v_job_ids, v_user_priorities) n (number, task_queue_id, job_id, user_priority)
      join unnest(v_requirements) with ordinality r (canonical, number) using (number)
     where n.task_queue_id is null
     group by r.number, r.canonical order by r.number
  loop
    v_made := v_made || (select p.made from taskqueue.place_jobs(v_setup, v_batch.canonical, v_batch.job_ids, v_batch.user_priorities, p_identity) p);
  end loop;
  return v_made;
end $$;

comment on function taskqueue.place_batch(resource.identity, jsonb) is
'Puts the jobs of a checked batch into queues; returns the queues made, for taskqueue.open_queues. Errors: PB001, PB002, PB005, naming the job.';
-- file: taskqueue/place_jobs.sql
-- Jobs with the same requirements into their queues (section 3). The order of steps is what makes it safe:
-- 1. the rows go in first; an id that another transaction is moving makes the primary key wait for it;
-- 2. ids that were waiting already are moved; 3. only then leases and ended rows are looked at: nobody can change these ids any more.
create or replace function taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities int[],
                                                p_identity resource.identity default null, out task_queue_id bigint, out made bigint[])
language plpgsql
as $$
declare
  v_setting taskqueue.setting;
  v_definition_id bigint;
  v_room bigint;
  v_from int := 1;
  v_to int;
begin
  made := '{}'::bigint[];
  select s.* into strict v_setting from taskqueue.setting s where s.setup = p_setup;
  v_definition_id := taskqueue.definition_of(p_setup, p_requirements);
  while v_from <= cardinality(p_job_ids) loop
    select r.task_queue_id, r.room into place_jobs.task_queue_id, v_room from taskqueue.queues_with_room(p_setup, array[v_definition_id], v_setting.queue_size) r;
    if task_queue_id is null then
      perform pg_advisory_xact_lock(hashtextextended(p_setup || p_requirements, 0));
      select r.task_queue_id, r.room into place_jobs.task_queue_id, v_room from taskqueue.queues_with_room(p_setup, array[v_definition_id], v_setting.queue_size) r;
    end if;
    if task_queue_id is null then
      v_room := v_setting.queue_size;
      task_queue_id := taskqueue.make_queue(p_setup, v_definition_id, (
        select avg(taskqueue.weight(p, v_setting.ten_first)) from unnest(p_user_priorities[v_from:v_from + v_setting.queue_size - 1]) p));
      made := made || task_queue_id;
    end if;
    v_to := least(v_from + v_room - 1, cardinality(p_job_ids));
    perform taskqueue.fill_queues(p_setup, array_fill(task_queue_id, array[v_to - v_from + 1]), p_job_ids[v_from:v_to], p_user_priorities[v_from:v_to],
                                  p_identity);
    v_from := v_to + 1;
  end loop;
  perform taskqueue.settle_ids(p_setup, p_job_ids);
end $$;

comment on function taskqueue.place_jobs(text, jsonb, bigint[], int[], resource.identity) is
'Puts jobs with the same canonical requirements into the newest queue with room, opening queues as needed. Returns the queue of the last, and the queues made, for taskqueue.open_queues. Errors: PB002 (a private submitter would move the job of another), PB005 (leased).';
-- file: taskqueue/post_pending.sql
-- after: taskqueue.post_queues
-- Queues that could not be posted when they were opened (taskqueue.post_queues). Nobody waits: what is locked is left for the next. A few at a time,
-- since an agent does it.
create or replace function taskqueue.post_pending(p_setup text, p_limit int default 20) returns boolean
language plpgsql
as $$
declare
  v_ids bigint[];
begin
  if not exists (select from taskqueue.unposted u where u.setup = p_setup) then
    return false;
  end if;
  with gone as (
    delete from taskqueue.unposted u
     where u.ctid = any (array(select i.ctid from taskqueue.unposted i where i.setup = p_setup limit p_limit for update skip locked))
    returning u.task_queue_id
  )
  select array_agg(distinct g.task_queue_id) into v_ids from gone g;
  insert into taskqueue.unposted (setup, task_queue_id)  -- a queue that somebody is closing or dropping
  select p_setup, i from unnest(v_ids) i
   where i <> all (array(select q.task_queue_id from taskqueue.task_queue q
                          where q.setup = p_setup and q.task_queue_id = any (v_ids) for no key update skip locked))
     and exists (select from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = i);
  v_ids := array(select i from unnest(v_ids) i where not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = i));
  return v_ids <> '{}' and taskqueue.post_queues(p_setup, v_ids, false);
end $$;

comment on function taskqueue.post_pending(text, int) is
'Posts the queues that were opened while somebody else worked on their lists; at most p_limit at a time; true when there were any, and it could be done.';
-- file: taskqueue/post_queues.sql
-- after: taskqueue.wanted_posting
-- after: taskqueue.posted_queue
-- The postings of queues are there while they are open: enabled, and neither they nor their owners held. The caller has locked the queues' rows,
-- or just made them, so that postings never outlive a change. Whoever appends to a list holds its row until the commit: places are given once.
-- Lists are locked in the order of their keys, all at once, so that two who open queues never wait for each other crosswise.
-- Agents and submitters do not wait (p_wait false): where somebody works on one of the lists, the queues are left to taskqueue.post_pending.
create or replace function taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean default true) returns boolean
language plpgsql
as $$
declare
  v_sites text[];
  v_cpu_times bigint[];
  v_bands int[];
  v_ids bigint[];
  v_list_ids bigint[];
  v_left_lists bigint[];
  v_left_bands int[];
  v_wanted int;
  v_new record;
begin
  if p_task_queue_ids = '{}' then
    return true;
  end if;
  if p_wait then  -- maintenance posts group by group: those who wait do so one after the other, before any list
    perform pg_advisory_xact_lock(hashtextextended(p_setup, 7));
  end if;
  with gone as (
    delete from taskqueue.posting d
     where d.setup = p_setup and d.task_queue_id = any (p_task_queue_ids)
       and not exists (select from taskqueue.posted_queue p
                         join taskqueue.wanted_posting w using (setup, site, cpu_time, band, task_queue_id)
                        where p.setup = p_setup and p.list_id = d.list_id and p.band = d.band and p.place = d.place)
    returning d.list_id, d.band
  )
  select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands from gone g;
  select array_agg(w.site), array_agg(w.cpu_time), array_agg(w.band), array_agg(w.task_queue_id), count(distinct (w.site, w.cpu_time))
    into v_sites, v_cpu_times, v_bands, v_ids, v_wanted
    from (select i.* from taskqueue.wanted_posting i
           where i.setup = p_setup and i.task_queue_id = any (p_task_queue_ids)
             and not exists (select from taskqueue.posted_queue p
                              where p.setup = p_setup and p.task_queue_id = i.task_queue_id and (p.site, p.cpu_time, p.band) = (i.site, i.cpu_time, i.band))
           order by i.task_queue_id, i.site) w;
  while v_wanted > 0 loop  -- maintenance may remove a list that is empty before it is locked here
    for v_new in  -- a lock for each list that is to be made, since an insert would wait for another of the same list
      select distinct w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time)
       where not exists (select from taskqueue.posting_list l where l.setup = p_setup and l.site = w.site and l.cpu_time = w.cpu_time)
       order by 1, 2
    loop
      if p_wait then
        perform pg_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time));
      end if;
      if p_wait or pg_try_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time)) then
        insert into taskqueue.posting_list (setup, site, cpu_time) values (p_setup, v_new.site, v_new.cpu_time) on conflict do nothing;
      end if;
    end loop;
    if p_wait then
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update);
      exit when cardinality(v_list_ids) = v_wanted;
    else
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update skip locked);
      exit when cardinality(v_list_ids) = v_wanted;
      insert into taskqueue.unposted (setup, task_queue_id) select p_setup, unnest(p_task_queue_ids);
      return false;
    end if;
  end loop;
  update taskqueue.task_queue q set posted = not q.posted
   where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     and q.posted <> (q.task_queue_id = any (coalesce(v_ids, '{}'))
                      or exists (select from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = q.task_queue_id));
  if v_left_lists is not null then  -- the ends of bands that were left; gaps are for taskqueue.close_gaps
    select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands
      from unnest(v_left_lists, v_left_bands) g (list_id, band)
      join (select l.list_id from taskqueue.posting_list l
             where l.setup = p_setup and l.list_id = any (v_left_lists) order by l.site, l.cpu_time for update skip locked) i using (list_id);
    perform taskqueue.measure_lists(p_setup, v_left_lists, v_left_bands);
  end if;
  if v_ids is null then
    return true;
  end if;
  with posted as (
    insert into taskqueue.posting (setup, list_id, band, place, task_queue_id)
    select p_setup, l.list_id, w.band,
           coalesce(l.places[array_position(l.bands, w.band)], 0) + row_number() over (partition by l.list_id, w.band order by w.task_queue_id), w.task_queue_id
      from unnest(v_sites, v_cpu_times, v_bands, v_ids) w (site, cpu_time, band, task_queue_id)
      join taskqueue.posting_list l on l.setup = p_setup and (l.site, l.cpu_time) = (w.site, w.cpu_time)
    returning list_id, band
  )
  select array_agg(p.list_id), array_agg(p.band) into v_list_ids, v_bands from posted p;
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
  return true;
end $$;

comment on function taskqueue.post_queues(text, bigint[], boolean) is
'Makes the postings of queues what taskqueue.wanted_posting says, changing only what differs; false: left to taskqueue.post_pending.';
-- file: taskqueue/posted_queue.sql
-- The postings with the key of their list, to compare with taskqueue.wanted_posting.
create or replace view taskqueue.posted_queue as
select l.setup, l.site, l.cpu_time, p.band, p.task_queue_id, l.list_id, p.place
  from taskqueue.posting_list l
  join taskqueue.posting p on p.setup = l.setup and p.list_id = l.list_id;

comment on view taskqueue.posted_queue is 'Which open queues a site may see, by CPU bucket.';
comment on column taskqueue.posted_queue.setup is 'Tenant.';
comment on column taskqueue.posted_queue.site is 'A site listed and not banned; * = the queue lists none; empty = every open queue.';
comment on column taskqueue.posted_queue.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.posted_queue.band is 'Band of its priority.';
comment on column taskqueue.posted_queue.task_queue_id is 'TaskQueue.';
comment on column taskqueue.posted_queue.list_id is 'List.';
comment on column taskqueue.posted_queue.place is 'Place in the list.';
-- file: taskqueue/queue_count.sql
-- Waiting jobs a queue, base and changes read in one statement, as taskqueue.job_level does by user priority. Not through that function: what a view
-- calls has the rights of whoever reads the view.
create or replace view taskqueue.queue_count as
select q.setup, q.task_queue_id,
       (coalesce((select sum(j) from unnest(t.jobs) j), 0)
        + coalesce((select sum(c.change) from taskqueue.job_count_change c
                     where c.setup = q.setup and c.task_queue_id = q.task_queue_id and (c.made_in >= t.known_to or c.made_in = any (t.in_flight))), 0))::bigint as jobs
  from taskqueue.task_queue q
  left join lateral (select b.jobs, b.known_to, b.in_flight from taskqueue.job_count b
                      where b.setup = q.setup and b.task_queue_id = q.task_queue_id
                      order by b.known_to desc, b.count_id desc limit 1) t on true;

comment on view taskqueue.queue_count is
'Waiting jobs that are not held, by TaskQueue.';
comment on column taskqueue.queue_count.setup is 'Tenant.';
comment on column taskqueue.queue_count.task_queue_id is 'TaskQueue.';
comment on column taskqueue.queue_count.jobs is 'Waiting jobs that are not held.';
-- file: taskqueue/queue_of_job.sql
-- DIRAC's getTaskQueueForJob.
create or replace function taskqueue.queue_of_job(p_setup text, p_job_id bigint) returns bigint
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_queue taskqueue.task_queue;
begin
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  if found then
    perform taskqueue.may_touch(v_identity, p_job_id, v_queue.definition_id);
  end if;
  return v_queue.task_queue_id;
end $$;

comment on function taskqueue.queue_of_job(text, bigint) is 'TaskQueue that a job waits in; null when it does not wait. Errors: PB002 (setup or owner not granted).';
-- file: taskqueue/queue_point.sql
-- after: taskqueue.draw
-- after: taskqueue.accepts_owner
-- Section 5, step 2, without a key a queue. The key random()/p of a queue of priority p comes at x with the rate p/(1 - p x) when it has not come
-- before; under the policy proportional the rate is p. So the queues of a list come in the order of their keys when points of a rate that is
-- higher are thinned out: as if every place held a queue of its band's ceiling c, and every rate were that of the highest ceiling m. Each list has its
-- next point by one draw, and the first of them is the next of all; the place is uniform over places weighed by their ceilings, and the
-- queue there comes with the probability (p/c) (1 - m x)/(1 - p x): where within its place the point lies is a draw, too. An empty place is a queue of
-- priority 0. Points have no memory: from one that was passed over the draw goes on as if it began there.
-- Most definitions are compared with the offer here; where more is to be tested (taskqueue.tests_of), the caller looks more closely: to start up all
-- conditions costs 25 us.
-- When points were in vain so often that a key a queue costs no more, they are enough: a point takes some ten times as long as a queue.
-- What a point costs goes neither with the queues nor with the bands. The fences (offset 0) spare looking into the arrays again for each use of what was found.
create or replace function taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above float8, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests int)
returns table (enough int, key float8, fits boolean, site text, task_queue_id bigint, definition taskqueue.definition)
language sql stable
rows 1
as $$
  select case when s.room <= 16 then 8 else greatest(100, s.room / 16)::int end, s.key,
         s.rest - (s.place - 1) * s.ceiling < q.priority * case when p_policy = 'proportional' then 1 else (1 - s.top * s.key) / (1 - q.priority * s.key) end
         and case when d.demands & p_tests = 0
                  then p_sites[1] <> all (d.banned_sites)
                       and (p_offer.platforms is null or cardinality(d.platforms) = 0 or d.platforms && p_offer.platforms)
                       and (p_offer.tags is null or d.tags <@ p_offer.tags)
                       and taskqueue.accepts_owner(d, p_offer)
             end,
         s.site, q.task_queue_id, d
    from (select b.*, 1 + floor(b.rest / b.ceiling)::int as place
            from (select e.room, e.key, e.top, e.site, e.list_id, e.bands[e.entry] as band, e.point - coalesce(e.sums[e.entry - 1], 0) as rest, e.ceilings[e.entry] as ceiling
                    from (select l.*, 1 + width_bucket(l.point, l.sums) as entry
                            from (select i.room, i.top, i.site, i.list_id, i.bands, i.sums, i.ceilings, taskqueue.draw(-1, p_seed) * i.rate as point,
                                         case when p_policy = 'proportional' then p_above - ln(taskqueue.draw(i.list_id, p_seed)) / i.rate
                                              else (1 - (1 - i.top * p_above) * power(taskqueue.draw(i.list_id, p_seed), i.top / i.rate)) / i.top end as key
                                    from taskqueue.posting_list i
                                   where i.setup = p_setup and i.site = any (p_sites) and i.cpu_time = p_bucket and i.room > 0
                                   order by key limit 1) l offset 0) e offset 0) b) s
    left join taskqueue.posting p on p.setup = p_setup and p.list_id = s.list_id and p.band = s.band and p.place = s.place
    left join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.posted
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
$$;

comment on function taskqueue.queue_point(text, text[], bigint, float8, text, bigint, taskqueue.offer, int) is
'The next point above a key over the lists of some sites in a CPU bucket, and the queue at its place; fits = it is the next in the drawn order, if it has not come before, and matches the offer; null: to be looked at more closely. enough = the points that are worth drawing in such a list. No row: there is no list.';
-- file: taskqueue/queues_with_room.sql
-- after: taskqueue.job_level
-- Section 2, Size: new jobs go to the newest queue with room. Key share: the queue cannot be deleted before the caller commits. A queue that
-- somebody is deleting is passed over, so nobody waits for a deletion.
create or replace function taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint)
returns table (definition_id bigint, task_queue_id bigint, room bigint)
language sql
as $$
  select d.definition_id, n.task_queue_id, n.room
    from unnest(p_definition_ids) d (definition_id)
   cross join lateral (
          select q.task_queue_id, p_size - c.jobs as room
            from taskqueue.task_queue q
           cross join lateral (select coalesce(sum(l.jobs), 0)::bigint as jobs from taskqueue.job_level(q.setup, q.task_queue_id) l) c
           where q.setup = p_setup and q.definition_id = d.definition_id and c.jobs < p_size
           order by q.task_queue_id desc
           limit 1
             for key share of q skip locked) n
$$;

comment on function taskqueue.queues_with_room(text, bigint[], bigint) is
'The newest queue of each definition with fewer jobs than the size given, locked against deletion, and how many more it takes; no row = none.';
-- file: taskqueue/reaches.sql
-- Section 7: a job counts at every value that its queue lists, and each limit acts on its own. (DIRAC combines them: a real bug.)
create or replace function taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) returns boolean
language sql stable
as $$
  select exists (select from taskqueue.site_limit l
                  where l.setup = p_setup and l.limit_id = any (p_limits) and taskqueue.lists(p_requirements, l.attribute, l.value))
$$;

comment on function taskqueue.reaches(jsonb, bigint[], text) is
'Whether requirements list a value of one of the limits.';
-- file: taskqueue/rebuild_matching.sql
-- Everything derived, made anew from the truth: task_queue, its requirement tables, job, lease.
create or replace function taskqueue.rebuild_matching(p_setup text) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_limit_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.posting p where p.setup = p_setup;
  delete from taskqueue.posting_list l where l.setup = p_setup;
  -- a definition that was changed by hand, its digest telling what it was
  update taskqueue.definition d set requirements = w.requirements
    from (select t.definition_id, taskqueue.requirements_of_queue(t) as requirements from taskqueue.task_queue t where t.setup = p_setup) w
   where d.setup = p_setup and d.definition_id = w.definition_id and d.requirements <> w.requirements and d.digest = md5(w.requirements::text)::uuid;
  update taskqueue.task_queue q set definition_id = taskqueue.definition_of(p_setup, w.requirements)
    from (select t.task_queue_id, t.definition_id, taskqueue.requirements_of_queue(t) as requirements from taskqueue.task_queue t where t.setup = p_setup) w
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id
   where q.setup = p_setup and q.task_queue_id = w.task_queue_id and not (d.requirements = w.requirements);
  update taskqueue.definition d
     set made_in = pg_current_xact_id(), family = taskqueue.family_of(r), digest = md5(r::text)::uuid, owner_dn = r ->> 'OwnerDN', owner_group = r ->> 'OwnerGroup',
         cpu_time = (r ->> 'CPUTime')::bigint, min_ram = (r ->> 'MinRAM')::float8,
         pilot_types = taskqueue.list_of(r, 'PilotTypes'), sites = taskqueue.list_of(r, 'Sites'), banned_sites = taskqueue.list_of(r, 'BannedSites'),
         grid_ces = taskqueue.list_of(r, 'GridCEs'), platforms = taskqueue.list_of(r, 'Platforms'), job_types = taskqueue.list_of(r, 'JobTypes'),
         tags = taskqueue.list_of(r, 'Tags')
    from (select i.definition_id, i.requirements as r from taskqueue.definition i where i.setup = p_setup) i
   where d.setup = p_setup and d.definition_id = i.definition_id;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.job_count c where c.setup = p_setup;
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, q.task_queue_id, '0', '{}', array_agg(coalesce(n.jobs, 0) order by i.level), array_agg(n.first_id order by i.level)
    from taskqueue.task_queue q
   cross join generate_series(0, 10) i (level)
    left join (select j.task_queue_id, j.user_priority, count(*) as jobs, min(j.job_id) as first_id
                 from taskqueue.job j where j.setup = p_setup and not j.held group by 1, 2) n
           on n.task_queue_id = q.task_queue_id and n.user_priority = i.level
   where q.setup = p_setup
   group by q.task_queue_id;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  perform taskqueue.note_weight(p_setup, q.owner_group, q.owner_dn, q.mean_weight, 1) from taskqueue.task_queue q where q.setup = p_setup;
  perform taskqueue.fold_weights(p_setup, g.owner_group) from (select distinct q.owner_group from taskqueue.task_queue q where q.setup = p_setup) g;
  perform taskqueue.post_queues(p_setup, array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup));
  for v_limit_id in select l.limit_id from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running' loop
    perform taskqueue.set_slots(p_setup, v_limit_id);
  end loop;
end $$;

comment on function taskqueue.rebuild_matching(text) is
'Makes everything that matching reads anew (definitions, postings, counts, weights of owners, limit slots) from TaskQueues, requirement tables, jobs and leases. Errors: PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/recompute_shares.sql
-- Section 9. A queue that another transaction is deleting or posting is passed over: nobody waits for this, and this waits for nobody.
create or replace function taskqueue.recompute_shares(p_setup text, p_group text default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_locked bigint[];
  v_changed bigint;
  v_elsewhere bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.correct_shares(p_setup);
  delete from taskqueue.share_mark m where m.ctid = any (array(
    select k.ctid from taskqueue.share_mark k where k.setup = p_setup and (p_group is null or k.owner_group = p_group) for update skip locked));
  v_locked := array(select q.task_queue_id from taskqueue.task_queue q
                     where q.setup = p_setup and (p_group is null or q.owner_group = p_group) for no key update skip locked);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- those passed over are for the next time
  select distinct p_setup, q.owner_group, resource.clock(p_setup) from taskqueue.task_queue q
   where q.setup = p_setup and (p_group is null or q.owner_group = p_group) and q.task_queue_id <> all (v_locked);
  with changed as (
    update taskqueue.task_queue q set priority = s.priority, mean_weight = s.mean_weight
      from taskqueue.share_of_queue(p_setup, p_group) s
      join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = s.task_queue_id
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (v_locked)
       and (q.priority <> s.priority or q.mean_weight <> s.mean_weight)
    returning q.task_queue_id, q.owner_group, q.owner_dn, o.mean_weight as old_weight, q.mean_weight,
              q.posted and taskqueue.band_of(q.priority) <> taskqueue.band_of(o.priority) as elsewhere
  ), noted as (  -- the queues are locked: nobody else changes or drops what is taken away here
    insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
    select p_setup, c.owner_group, c.owner_dn, taskqueue.is_background(v.weight, true), sum(v.queues), sum(v.queues * v.weight::numeric)
      from changed c cross join lateral (values (c.old_weight, -1), (c.mean_weight, 1)) v (weight, queues)
     group by 2, 3, 4 having sum(v.queues) <> 0 or sum(v.queues * v.weight::numeric) <> 0
  )
  select count(*), coalesce(array_agg(c.task_queue_id) filter (where c.elsewhere), '{}') into v_changed, v_elsewhere from changed c;
  perform taskqueue.fold_weights(p_setup, g.owner_group)
     from (select distinct w.owner_group from taskqueue.owner_weight w where w.setup = p_setup and (p_group is null or w.owner_group = p_group)) g;
  perform taskqueue.post_queues(p_setup, v_elsewhere);
  return v_changed;
end $$;

comment on function taskqueue.recompute_shares(text, text) is
'Gives the queues of a setup, or of one owner group, the priorities of section 9 as things are now; returns how many queues changed. Errors: PB002 (setup not granted).';
-- file: taskqueue/reconfigure.sql
-- The exclusive side of taskqueue.enter. It gives way: agents that queue up behind it wait at most 300 ms at a time.
create or replace function taskqueue.reconfigure(p_setup text) returns void
language plpgsql
set lock_timeout = '300ms'
as $$
begin
  perform taskqueue.require_read_committed();
  for v_try in 1..10 loop
    begin
      perform pg_advisory_xact_lock(hashtext('taskqueue'), hashtext(p_setup));
      return;
    exception when lock_not_available then
      perform pg_sleep(0.05 + 0.1 * random());
    end;
  end loop;
  raise exception 'setup % is busy: a call has been open there for over 3 s', p_setup
    using errcode = 'PB006', hint = 'Try again; look for transactions that stay open in pg_stat_activity.';
end $$;

comment on function taskqueue.reconfigure(text) is
'Keeps matching, inserting and returning out of the setup until the transaction ends. Errors: PB001 (isolation level), PB006 (open transactions do not end).';
-- file: taskqueue/refresh_statistics.sql
-- After a bulk load: a setup that the planner's statistics do not know looks as if it had one row, and then an index by setup alone looks
-- as good as the right one (a match took 6 ms instead of 0.5). Autovacuum comes a minute later at best.
create or replace function taskqueue.refresh_statistics() returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  analyze (skip_locked) taskqueue.definition, taskqueue.task_queue, taskqueue.posting_list, taskqueue.posting, taskqueue.job, taskqueue.job_count, taskqueue.job_count_change;
end $$;

comment on function taskqueue.refresh_statistics() is
'Tells the planner how much the room holds now; after a bulk load, before the agents come. Takes about 50 ms.';
-- file: taskqueue/release_job.sql
-- Section 8: a returned job keeps id, user priority and attempt count; its requirements stay with the lease, so that a queue that vanished
-- is opened anew. A job marked for kill does not go back.
create or replace function taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_lease taskqueue.lease;
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  if v_lease.kill_reason is not null then
    perform taskqueue.end_lease(v_lease, 'cancelled');
    return null;
  end if;
  return taskqueue.return_job(v_lease);
end $$;

comment on function taskqueue.release_job(text, bigint, text) is
'Puts a leased job back into its queue and returns the queue; null when it had been marked for kill: then it ended as cancelled. Errors: PB002 (setup not granted), PB003 (stale attempt).';
-- file: taskqueue/remove_setup.sql
-- Takes a whole setup away (a demo's, a test's, an experiment that ended). Nobody is inside it meanwhile.
create or replace function taskqueue.remove_setup(p_setup text) returns boolean
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  delete from taskqueue.job j where j.setup = p_setup;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.job_count c where c.setup = p_setup;
  delete from taskqueue.lease l where l.setup = p_setup;
  delete from taskqueue.limit_slot s where s.setup = p_setup;
  delete from taskqueue.limit_use u where u.setup = p_setup;
  delete from taskqueue.ended e where e.setup = p_setup;
  delete from taskqueue.history h where h.setup = p_setup;
  delete from taskqueue.request r where r.setup = p_setup;
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.resource_seen r where r.setup = p_setup;
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  delete from taskqueue.share_mark m where m.setup = p_setup;
  delete from taskqueue.task_queue q where q.setup = p_setup;
  delete from resource.setup s where s.setup = p_setup;
  return found;
end $$;

comment on function taskqueue.remove_setup(text) is
'Deletes a setup with all its TaskQueues, jobs, leases, history, configuration and identities; false when there is none. Errors: PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/replace_definition.sql
-- Two definitions have become equal (re-bucketing): leases and queues follow, and the jobs go to the oldest queue there is.
-- What an operator disabled or held stays so: such queues are siblings then.
create or replace function taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) returns void
language plpgsql
as $$
declare
  v_ids bigint[];
begin
  update taskqueue.lease l set definition_id = p_new where l.setup = p_setup and l.definition_id = p_old;
  if exists (select from taskqueue.task_queue q where q.setup = p_setup and q.definition_id = p_new) then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q
                    where q.setup = p_setup and q.definition_id in (p_old, p_new) and q.enabled and not q.held order by q.task_queue_id);
    update taskqueue.job j set task_queue_id = v_ids[1] where j.setup = p_setup and j.task_queue_id = any (v_ids[2:]);
    delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = any (v_ids[2:]);
  end if;
  update taskqueue.task_queue q set definition_id = p_new where q.setup = p_setup and q.definition_id = p_old;
  delete from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_old;
end $$;

comment on function taskqueue.replace_definition(text, bigint, bigint) is
'Gives the queues and leases of one definition to another; where that has queues, all jobs go to the oldest of both; disabled and held queues stay as they are, beside it. Counts and postings are for taskqueue.rebuild_matching.';
-- file: taskqueue/report_job.sql
-- Section 8: the first report makes the lease running; each is answered continue or kill.
create or replace function taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) returns table (action text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_lease taskqueue.lease;
  v_now timestamptz := resource.clock(p_setup);
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.lease_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = p_job_id;
  if v_lease.state = 'matched' then
    perform taskqueue.note_event(v_lease, 'running');
  end if;
  return query select case when v_lease.kill_reason is null then 'continue' else 'kill' end, v_lease.kill_reason;
end $$;

comment on function taskqueue.report_job(text, bigint, text) is
'An agent says that it works on the job; answers continue, or kill with the reason. Errors: PB002 (setup not granted), PB003 (stale attempt).';
-- file: taskqueue/require_read_committed.sql
-- A snapshot taken before the setup was entered shows limits, buckets and leases as they no longer are.
create or replace function taskqueue.require_read_committed() returns void
language plpgsql stable
as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the transaction is %', current_setting('transaction_isolation')
      using errcode = 'PB001', hint = 'Call it in READ COMMITTED, PostgreSQL''s default.';
  end if;
end $$;

comment on function taskqueue.require_read_committed() is 'Refuses a transaction that keeps one snapshot. Errors: PB001.';
-- file: taskqueue/require_setup.sql
-- Gives a new setup its settings and the four CPU buckets of seed 004.
create or replace function taskqueue.require_setup(p_setup text) returns void
language plpgsql
as $$
begin
  if exists (select from taskqueue.setting s where s.setup = p_setup) then
    return;
  end if;
  perform resource.require_setup(p_setup);
  insert into taskqueue.cpu_bucket (setup, cpu_time)
  select p_setup, b from unnest(array[500, 5000, 50000, 300000]) b
  on conflict do nothing;
  insert into taskqueue.setting (setup) values (p_setup) on conflict do nothing;
end $$;

comment on function taskqueue.require_setup(text) is
'Makes the settings of a setup where there are none: the defaults, and the CPU buckets 500, 5000, 50000, 300000 s (seed 004). Errors: PB001.';
-- file: taskqueue/requirements_of_queue.sql
-- The canonical requirements of a TaskQueue as its columns and requirement tables say: the truth that definitions are derived from.
create or replace function taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'OwnerDN', p_queue.owner_dn, 'OwnerGroup', p_queue.owner_group, 'CPUTime', p_queue.cpu_time, 'MinRAM', p_queue.min_ram, 'MaxRAM', p_queue.max_ram,
    'SubmitPools', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_submit_pool v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'GridMiddlewares', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_grid_middleware v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'PilotTypes', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_pilot_type v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Sites', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_site v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'BannedSites', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_banned_site v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'GridCEs', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_grid_ce v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Platforms', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_platform v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'JobTypes', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_job_type v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Tags', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_tag v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id)))
$$;

comment on function taskqueue.requirements_of_queue(taskqueue.task_queue) is
'Canonical requirements of a TaskQueue, from its columns and requirement tables.';
-- file: taskqueue/resource_kind.sql
-- Classes of resources: rolled up by taskqueue.maintain, and seen since.
create or replace view taskqueue.resource_kind as
select s.setup, s.class, (array_agg(s.resource))[1] as resource, min(s.first_seen) as first_seen, max(s.last_seen) as last_seen,
       sum(s.samples)::bigint as samples, sum(s.matched)::bigint as matched
  from (select c.setup, c.class, c.resource, c.first_seen, c.last_seen, c.samples, c.matched from taskqueue.resource_class c
        union all
        select r.setup, r.class, r.resource, r.seen_at, r.seen_at, 1, r.matched::int from taskqueue.resource_seen r) s
 group by s.setup, s.class;

comment on view taskqueue.resource_kind is
'Kinds of resources seen lately, rolled up or not.';
comment on column taskqueue.resource_kind.setup is 'Tenant.';
comment on column taskqueue.resource_kind.class is 'Kind of resource.';
comment on column taskqueue.resource_kind.resource is 'Description.';
comment on column taskqueue.resource_kind.first_seen is 'First seen.';
comment on column taskqueue.resource_kind.last_seen is 'Last seen.';
comment on column taskqueue.resource_kind.samples is 'Ten-second windows in which it asked.';
comment on column taskqueue.resource_kind.matched is 'Those of them whose sampled request got a job.';
-- file: taskqueue/return_job.sql
-- Section 8: from a lease back to waiting.
create or replace function taskqueue.return_job(p_lease taskqueue.lease) returns bigint
language plpgsql
as $$
declare
  v_queue_id bigint;
  v_made bigint[];
begin
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  select p.task_queue_id, p.made into v_queue_id, v_made
    from taskqueue.definition d
   cross join lateral taskqueue.place_jobs(p_lease.setup, d.requirements, array[p_lease.job_id], array[p_lease.user_priority::int]) p
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  perform taskqueue.open_queues(p_lease.setup, v_made);
  update taskqueue.job j set attempts = p_lease.attempt where j.setup = p_lease.setup and j.job_id = p_lease.job_id;
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, 'released');
  return v_queue_id;
end $$;

comment on function taskqueue.return_job(taskqueue.lease) is 'Puts a leased job back into a queue of its requirements, with its attempts; returns the queue.';
-- file: taskqueue/roll_up_resources.sql
-- Architecture, Hot rows: what resources were seen is appended, and rolled up in the background; at most 10,000 classes, the ones seen last.
create or replace function taskqueue.roll_up_resources(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_count bigint;
begin
  with gone as (
    delete from taskqueue.resource_seen s
     where s.ctid = any (array(select i.ctid from taskqueue.resource_seen i
                                where i.setup = p_setup and i.seen_at < resource.clock(p_setup) - interval '10 seconds' for update skip locked))
    returning s.class, s.seen_at, s.matched, s.resource
  ), kept as (
    insert into taskqueue.resource_class as c (setup, class, resource, first_seen, last_seen, samples, matched)
    select p_setup, g.class, (array_agg(g.resource))[1], min(g.seen_at), max(g.seen_at), count(*), count(*) filter (where g.matched)
      from gone g group by g.class order by g.class
    on conflict (setup, class) do update
       set last_seen = greatest(c.last_seen, excluded.last_seen), samples = c.samples + excluded.samples, matched = c.matched + excluded.matched
  )
  select count(*) into v_count from gone;
  delete from taskqueue.resource_class c
   where c.setup = p_setup
     and c.class in (select o.class from taskqueue.resource_class o where o.setup = p_setup order by o.last_seen desc, o.class offset 10000);
  return v_count;
end $$;

comment on function taskqueue.roll_up_resources(text) is
'Moves the resources seen over ten seconds ago into their classes, and keeps the 10,000 classes seen last; returns how many rows moved.';
-- file: taskqueue/round_cpu_time.sql
-- The CPU-bucketing trigger (seed 004, "Task Queue Implementation").
create or replace function taskqueue.round_cpu_time() returns trigger
language plpgsql
as $$
begin
  new.cpu_time := taskqueue.cpu_bucket_of(new.setup, new.cpu_time);
  return new;
end $$;

comment on function taskqueue.round_cpu_time() is
'Trigger: rounds the CPU time of a TaskQueue up to its bucket, by taskqueue.cpu_bucket_of.';
-- file: taskqueue/says_any.sql
-- Section 4, condition 4: "any", in any case, surrounding punctuation ignored ("ANY", "'any'", "[any]").
create or replace function taskqueue.says_any(p_texts text[]) returns boolean
language plpgsql immutable
as $$
begin
  return array_to_string(p_texts, ' ') ilike '%any%'
         and exists (select from unnest(p_texts) t where t ~* '^[[:punct:][:space:]]*any[[:punct:][:space:]]*$');
end $$;

comment on function taskqueue.says_any(text[]) is 'Whether one of the texts is "any".';
-- file: taskqueue/see_resource.sql
-- Section 10 explains jobs against the resources seen lately. At most one row per class in ten seconds, in an unlogged table: a call that
-- finds no match writes no WAL, and no agent waits for another. A description that is known is noted again by one call in fifty (in ten where
-- nothing matched), so that ten thousand kinds of resources cost little.
create or replace function taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) returns void
language plpgsql
as $$
declare
  v_offer taskqueue.offer;
  v_resource jsonb;
  v_class uuid;
  v_now timestamptz := resource.clock(p_setup);
  v_bucket bigint := p_known.cpu_buckets[width_bucket((p_known.offer).cpu_time, p_known.cpu_buckets)];
begin
  if coalesce(v_bucket, 0) = any (p_known.seen) and p_known.seen_at > v_now - interval '10 seconds' then
    return;
  end if;
  v_offer := p_known.offer;
  v_resource := p_resource - '{JobID,Setup,OwnerDN,OwnerGroup}'::text[];
  if v_resource ? 'CPUTime' then
    v_resource := v_resource || jsonb_build_object('CPUTime', coalesce(v_bucket, 0));
  end if;
  if v_offer.owner_dn is not null then
    v_resource := v_resource || jsonb_build_object('OwnerDN', v_offer.owner_dn);
  end if;
  if v_offer.owner_groups is not null then
    v_resource := v_resource || jsonb_build_object('OwnerGroup', v_offer.owner_groups);
  end if;
  if v_resource @? 'strict $.* ? (@.type() == "array")' then  -- lists are sets; one value is the value, none is no key
    select jsonb_object_agg(e.key, case when v.texts is null then e.value when cardinality(v.texts) = 1 then to_jsonb(v.texts[1]) else to_jsonb(v.texts) end)
      into v_resource
      from jsonb_each(v_resource) e
     cross join lateral (select case when jsonb_typeof(e.value) = 'array' then taskqueue.texts(e.key, e.value) end as texts) v
     where v.texts is distinct from '{}';
  end if;
  v_class := md5(v_resource::text)::uuid;
  if not exists (select from taskqueue.resource_seen s
                  where s.setup = p_setup and s.class = v_class and s.seen_at > v_now - interval '10 seconds')
     and pg_try_advisory_xact_lock(hashtextextended(p_setup || v_class, 2)) then
    insert into taskqueue.resource_seen (setup, class, seen_at, matched, resource) values (p_setup, v_class, v_now, p_matched, v_resource);
  end if;
  update taskqueue.known_offer k
     set seen_at = v_now, seen = case when coalesce(v_bucket, 0) = any (k.seen) then k.seen else k.seen || coalesce(v_bucket, 0) end
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource for update skip locked));
end $$;

comment on function taskqueue.see_resource(text, jsonb, taskqueue.known_offer, boolean) is
'Notes the class of a resource description: CPUTime as the highest bucket it covers (s), lists as sets, the owner as the identity has it, JobID left out.';
-- file: taskqueue/set_cpu_buckets.sql
-- Section 2: changing the buckets re-buckets the existing queues in one call, merging those that become equal: their jobs go to the oldest.
-- Only buckets are stored, so a queue goes to the next new bucket at or above its old one. Re-bucketing may exceed queue_size.
create or replace function taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_changed bigint;
  v_queue record;
begin
  perform resource.identify(p_setup);
  if coalesce(cardinality(p_buckets), 0) = 0 or array_position(p_buckets, null) is not null or exists (select from unnest(p_buckets) b where b <= 0) then
    raise exception 'buckets are %, which are not positive seconds', coalesce(p_buckets::text, 'null') using errcode = 'PB001', hint = 'Give at least one bucket, seconds.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  delete from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time <> all (p_buckets);
  insert into taskqueue.cpu_bucket (setup, cpu_time) select distinct p_setup, b from unnest(p_buckets) b on conflict do nothing;
  update taskqueue.task_queue q set cpu_time = q.cpu_time
   where q.setup = p_setup and q.cpu_time <> taskqueue.cpu_bucket_of(p_setup, q.cpu_time);
  get diagnostics v_changed = row_count;
  for v_queue in
    select d.definition_id, d.requirements || jsonb_build_object('CPUTime', taskqueue.cpu_bucket_of(p_setup, d.cpu_time)) as requirements
      from taskqueue.definition d
     where d.setup = p_setup and d.cpu_time <> taskqueue.cpu_bucket_of(p_setup, d.cpu_time)
     order by d.definition_id
  loop
    perform taskqueue.replace_definition(p_setup, v_queue.definition_id, taskqueue.definition_of(p_setup, v_queue.requirements));
  end loop;
  perform taskqueue.rebuild_matching(p_setup);
  perform taskqueue.recompute_shares(p_setup);
  return v_changed;
end $$;

comment on function taskqueue.set_cpu_buckets(text, bigint[]) is
'Sets the CPU buckets of a setup (seconds) and re-buckets its queues, merging those that become equal; returns how many queues changed their bucket. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/set_group.sql
-- Section 9: each owner group has a share (default 1000) and properties.
create or replace function taskqueue.set_group(p_setup text, p_group text, p_share float8 default 1000, p_job_sharing boolean default false,
                                               p_allow_background boolean default false) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  if p_group is null or p_group = '' then
    raise exception 'group is %', coalesce(quote_literal(p_group), 'null') using errcode = 'PB001', hint = 'Name the owner group.';
  elsif p_share is null or not (p_share > 0 and p_share < 'infinity') or p_job_sharing is null or p_allow_background is null then
    raise exception 'group % cannot have share %, job_sharing %, allow_background %', p_group, coalesce(p_share::text, 'null'),
          coalesce(p_job_sharing::text, 'null'), coalesce(p_allow_background::text, 'null')
      using errcode = 'PB001', hint = 'The share is a positive number, the properties are true or false.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  insert into taskqueue.owner_group (setup, owner_group, share, job_sharing, allow_background)
  values (p_setup, p_group, p_share, p_job_sharing, p_allow_background)
  on conflict (setup, owner_group) do update
     set share = excluded.share, job_sharing = excluded.job_sharing, allow_background = excluded.allow_background;
  perform taskqueue.recompute_shares(p_setup, p_group);
end $$;

comment on function taskqueue.set_group(text, text, float8, boolean, boolean) is
'Sets the share and the properties of an owner group, and recomputes its priorities. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/set_held.sql
-- Section 8: jobs, owners and queues can be held and let go again.
create or replace function taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) returns bigint
language plpgsql
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_setup(p_setup);
  if p_kind is null or p_kind not in ('job', 'owner', 'queue') then
    raise exception 'kind is %, which is not job, owner or queue', coalesce(quote_literal(p_kind), 'null')
      using errcode = 'PB001', hint = 'Hold a job by its id, an owner by OwnerDN, a queue by its id.';
  elsif p_name is null or p_name = '' or p_kind <> 'owner' and (p_name !~ '^[0-9]{1,19}$' or p_name::numeric > 9223372036854775807) then
    raise exception 'name of the % is %', p_kind, coalesce(quote_literal(p_name), 'null')
      using errcode = 'PB001', hint = 'A job or queue is named by its id, an owner by OwnerDN.';
  end if;
  if p_kind = 'owner' then
    return taskqueue.set_owner_held(p_setup, p_name, p_held);
  end if;
  perform taskqueue.enter(p_setup);
  if p_kind = 'job' then
    return taskqueue.set_job_held(p_setup, p_name::bigint, p_held);
  end if;
  perform taskqueue.lock_queue(p_setup, p_name::bigint);
  update taskqueue.task_queue q set held = p_held where q.setup = p_setup and q.task_queue_id = p_name::bigint and q.held <> p_held;
  if not found then
    return 0;
  end if;
  perform taskqueue.post_queues(p_setup, array[p_name::bigint]);
  return 1;
end $$;

comment on function taskqueue.set_held(text, text, text, boolean) is
'Holds or lets go a job, an owner or a queue; returns how many jobs or queues changed. Each is held on its own: letting a queue go does not let its owner go. Errors: PB001, PB002, PB004, PB005.';
-- file: taskqueue/set_job_held.sql
-- Section 8: a held job stays in its queue and is not matched, nor counted as waiting for a match.
create or replace function taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) returns bigint
language plpgsql
as $$
declare
  v_job taskqueue.job;
begin
  update taskqueue.job j set held = p_held where j.setup = p_setup and j.job_id = p_job_id and j.held <> p_held returning j.* into v_job;
  if found then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
    values (p_setup, v_job.task_queue_id, v_job.user_priority, case when p_held then -1 else 1 end, case when not p_held then p_job_id end);
    return 1;
  end if;
  if exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
    return 0;
  elsif exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) then
    raise exception 'job % is leased', p_job_id using errcode = 'PB005', hint = 'Only a waiting job can be held; cancel_job asks its agent to kill it.';
  end if;
  raise exception 'job % does not wait in setup %', p_job_id, p_setup using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
end $$;

comment on function taskqueue.set_job_held(text, bigint, boolean) is
'Holds or lets go a waiting job; 1 = changed. Errors: PB004 (does not wait), PB005 (leased).';
-- file: taskqueue/set_limit.sql
-- Section 7. Nobody is inside the setup while a limit is set, so that the leases counted are all there are; lowering evicts nobody.
create or replace function taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text,
                                               p_limit numeric, p_burst int default 1) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  if p_kind is null or p_kind not in ('running', 'delay') then
    raise exception 'kind is %, which is not running or delay', coalesce(quote_literal(p_kind), 'null') using errcode = 'PB001', hint = 'Give running or delay.';
  elsif p_site is null or p_site = '' or p_ce = '' or p_value is null or p_value = '' then
    raise exception 'site is %, CE is %, value is %', coalesce(quote_literal(p_site), 'null'), coalesce(quote_literal(p_ce), 'null'), coalesce(quote_literal(p_value), 'null')
      using errcode = 'PB001', hint = 'Name a site and a value; CE null = the whole site.';
  elsif p_limit is null or p_limit not between 0 and 100000 or p_kind = 'running' and p_limit <> trunc(p_limit) then
    raise exception 'limit is %, which is not % within 0..100000', coalesce(p_limit::text, 'null'),
          case p_kind when 'running' then 'an integer' else 'a number of seconds' end
      using errcode = 'PB001', hint = 'A running limit is jobs at a time, a delay is seconds between two matches.';
  elsif p_burst is null or p_burst not between 1 and 100000 then
    raise exception 'burst is %, which is not within 1..100000', coalesce(p_burst::text, 'null') using errcode = 'PB001', hint = 'Matches that may come at once after a pause.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  insert into taskqueue.site_limit as l (setup, kind, site, grid_ce, attribute, value, ceiling, delay, burst)
  values (p_setup, p_kind, p_site, p_ce, v_key, p_value, case p_kind when 'running' then p_limit::int end,
          case p_kind when 'delay' then make_interval(secs => p_limit::float8) end, case p_kind when 'delay' then p_burst end)
  on conflict on constraint site_limit_once do update
     set ceiling = excluded.ceiling, delay = excluded.delay, burst = excluded.burst,
         -- the last match was one delay before the clock; it counts with the new delay. No match yet: no clock
         next_at = case when l.next_at is not null
                        then least(l.next_at - l.delay + excluded.delay, resource.clock(p_setup) + excluded.burst * excluded.delay) end
  returning l.limit_id into v_id;
  if p_kind = 'running' then
    perform taskqueue.set_slots(p_setup, v_id);
  end if;
  return v_id;
end $$;

comment on function taskqueue.set_limit(text, text, text, text, text, text, numeric, int) is
'Limits the jobs with a value of an attribute at a site or CE: how many may be matched or running there (kind running; 0 blocks), or seconds between two matches (kind delay, p_burst at once after a pause). Existing leases count; lowering evicts nobody. Returns the limit. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/set_owner_held.sql
-- Section 8. Nobody is inside the setup meanwhile, so that no queue of the owner opens unseen.
create or replace function taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) returns bigint
language plpgsql
as $$
declare
  v_ids bigint[] := '{}'::bigint[];
begin
  perform taskqueue.reconfigure(p_setup);
  if p_held then
    insert into taskqueue.held_owner (setup, owner_dn, held_at) values (p_setup, p_owner_dn, resource.clock(p_setup)) on conflict do nothing;
  else
    delete from taskqueue.held_owner h where h.setup = p_setup and h.owner_dn = p_owner_dn;
  end if;
  if found then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup and q.owner_dn = p_owner_dn);
    perform taskqueue.post_queues(p_setup, v_ids);
  end if;
  return cardinality(v_ids);
end $$;

comment on function taskqueue.set_owner_held(text, text, boolean) is
'Holds or lets go the queues of an owner, those to come included; returns how many queues there are now, 0 when nothing changed. Errors: PB006 (busy).';
-- file: taskqueue/set_platform_compatibility.sql
-- Section 4: a table of compatible platforms (offered -> accepted) expands what the resource offers.
create or replace function taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  if p_offered is null or p_offered = '' or p_accepted is null or '' = any (p_accepted) or array_position(p_accepted, null) is not null then
    raise exception 'platform % cannot be compatible with %', coalesce(quote_literal(p_offered), 'null'), coalesce(p_accepted::text, 'null')
      using errcode = 'PB001', hint = 'Name platforms by non-empty texts; an empty list clears.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.platform_compatibility c where c.setup = p_setup and c.offered = p_offered and c.accepted <> all (p_accepted);
  insert into taskqueue.platform_compatibility (setup, offered, accepted) select p_setup, p_offered, unnest(p_accepted) on conflict do nothing;
end $$;

comment on function taskqueue.set_platform_compatibility(text, text, text[]) is
'Says which platforms a resource offers besides the one it names; replaces what was said, an empty list clears. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/set_queue_enabled.sql
-- Section 6: queues can be enabled and disabled by an operator; a disabled queue is not matched.
create or replace function taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  if p_enabled is null then
    raise exception 'enabled is null' using errcode = 'PB001', hint = 'Give true or false.';
  end if;
  perform taskqueue.lock_queue(p_setup, p_task_queue_id);
  update taskqueue.task_queue q set enabled = p_enabled where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.post_queues(p_setup, array[p_task_queue_id]);
end $$;

comment on function taskqueue.set_queue_enabled(text, bigint, boolean) is
'Takes a TaskQueue out of matching, or back in. Errors: PB001, PB002 (setup not granted), PB004 (no such queue).';
-- file: taskqueue/set_settings.sql
-- Settings of matching, all or none of the keys given.
create or replace function taskqueue.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_new taskqueue.setting;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %, not a JSON object', coalesce(p_settings::text, 'null') using errcode = 'PB001', hint = 'Give an object, for example {"ten_first": true}.';
  end if;
  select s.* into v_new from taskqueue.setting s where s.setup = p_setup;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_settings) e loop
    begin
      case v_key
        when 'ten_first' then v_new.ten_first := v_value::boolean;
        when 'share_correction' then v_new.share_correction := v_value::boolean;
        when 'strict_keys' then v_new.strict_keys := taskqueue.texts(v_key, v_value);
        when 'required_keys' then v_new.required_keys := taskqueue.texts(v_key, v_value);
        when 'queue_size' then v_new.queue_size := v_value::int;
        when 'policy' then v_new.policy := taskqueue.one_text(v_key, v_value);
        when 'lease_time' then v_new.lease_time := make_interval(secs => v_value::float8);
        when 'share_delay' then v_new.share_delay := make_interval(secs => v_value::float8);
        when 'correction_window' then v_new.correction_window := make_interval(secs => v_value::float8);
        when 'history_kept' then v_new.history_kept := make_interval(secs => v_value::float8);
        else
          raise exception 'setting % (value %) is not known', v_key, v_value
            using errcode = 'PB001', hint = 'Known: ten_first, strict_keys, required_keys, queue_size, policy, lease_time, share_delay, share_correction, correction_window, history_kept (times in seconds).';
      end case;
      update taskqueue.setting s
         set ten_first = v_new.ten_first, share_correction = v_new.share_correction, strict_keys = v_new.strict_keys,
             required_keys = v_new.required_keys, queue_size = v_new.queue_size, policy = v_new.policy, lease_time = v_new.lease_time,
             share_delay = v_new.share_delay, correction_window = v_new.correction_window, history_kept = v_new.history_kept
       where s.setup = p_setup;
    exception when invalid_parameter_value or check_violation or not_null_violation or cannot_coerce or invalid_text_representation
                or numeric_value_out_of_range or datetime_field_overflow then
      raise exception 'setting % is %, which it cannot be', v_key, v_value using errcode = 'PB001', hint = 'See the comments of taskqueue.setting.';
    end;
  end loop;
  if not v_new.strict_keys <@ '{Site,GridCE,Platform,JobType}' or not v_new.required_keys <@
     '{OwnerDN,OwnerGroup,CPUTime,PilotType,Site,GridCE,Platform,JobType,Tag,RequiredTag,BannedSite,BannedGridCE,BannedPlatform,BannedJobType,BannedTag,MaxRAM,NumberOfProcessors,WholeNode,JobID,Setup}' then
    raise exception 'strict_keys is %, required_keys is %: not keys for that', v_new.strict_keys, v_new.required_keys
      using errcode = 'PB001', hint = 'strict_keys: Site, GridCE, Platform, JobType. required_keys: keys of a resource description.';
  end if;
  perform taskqueue.recompute_shares(p_setup);
end $$;

comment on function taskqueue.set_settings(text, jsonb) is
'Changes settings of matching (columns of taskqueue.setting; times in seconds), all or none, and recomputes the shares. Errors: PB001 (key or value), PB002, PB006 (busy).';
-- file: taskqueue/set_slots.sql
-- Section 7: the slots of a running limit made to its ceiling, the leases that count at it holding theirs. Where these are more than the
-- ceiling, one row with a negative number for each that is too many.
create or replace function taskqueue.set_slots(p_setup text, p_limit_id bigint) returns void
language sql
as $$
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id;
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot)
  select p_setup, e.job_id, p_limit_id, row_number() over (order by e.job_id)
    from taskqueue.lease e
    join taskqueue.site_limit l on l.setup = p_setup and l.limit_id = p_limit_id
    join taskqueue.definition d on d.setup = e.setup and d.definition_id = e.definition_id
   where e.setup = p_setup and e.site = l.site and (l.grid_ce is null or l.grid_ce = e.grid_ce)
     and taskqueue.lists(d.requirements, l.attribute, l.value);
  insert into taskqueue.limit_slot (setup, limit_id, slot)
  select p_setup, p_limit_id, n.slot
    from taskqueue.site_limit l
   cross join lateral (select count(*)::int as used from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id) c
   cross join lateral (select generate_series(c.used + 1, l.ceiling) union all select generate_series(l.ceiling - c.used, -1)) n (slot)
   where l.setup = p_setup and l.limit_id = p_limit_id;
$$;

comment on function taskqueue.set_slots(text, bigint) is
'Makes the slots of a running limit anew from the leases there are.';
-- file: taskqueue/settle_ids.sql
-- Sections 3 and 8: the last step of putting jobs into queues, when nobody can change these ids any more: a leased id is an error, and
-- an ended one goes on counting its attempts. Each id is looked up by itself: without statistics a join of the tables was planned as a
-- scan of all jobs (1 ms a queue).
create or replace function taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) returns void
language plpgsql
as $$
declare
  v_leased bigint;
  v_ended record;
begin
  select min(l.job_id) into v_leased from taskqueue.lease l where l.setup = p_setup and l.job_id = any (p_job_ids);
  if v_leased is not null then
    raise exception 'job % is leased', v_leased using errcode = 'PB005', hint = 'A leased job cannot be inserted; cancel it, or wait until it has ended.';
  end if;
  for v_ended in delete from taskqueue.ended e where e.setup = p_setup and e.job_id = any (p_job_ids) returning e.job_id, e.attempts loop
    update taskqueue.job j set attempts = v_ended.attempts where j.setup = p_setup and j.job_id = v_ended.job_id;
  end loop;
end $$;

comment on function taskqueue.settle_ids(text, bigint[]) is
'Refuses ids just inserted that are leased, and lets those that had ended go on counting their attempts. Errors: PB005 (leased).';
-- file: taskqueue/share_of_queue.sql
-- after: taskqueue.weight_of_queue
-- Section 9: the priorities of all queues of a setup or a group, as their jobs are now.
create or replace function taskqueue.share_of_queue(p_setup text, p_group text default null)
returns table (task_queue_id bigint, mean_weight float8, priority float8)
language sql stable
as $$
  with queue as (
    select q.task_queue_id, q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as entity, d.family, w.weight as mean_weight,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
     cross join lateral taskqueue.weight_of_queue(q, s.ten_first) w
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup and (p_group is null or q.owner_group = p_group)
  ), owner as (
    select o.owner_group, count(distinct o.owner_dn) as owners
      from taskqueue.task_queue o where o.setup = p_setup and (p_group is null or o.owner_group = p_group)
     group by o.owner_group
  ), own as (
    select q.task_queue_id, q.family, q.mean_weight,
           taskqueue.own_priority(q.share * coalesce(c.factor, 1) / case when q.job_sharing then 1 else o.owners end,
                                  q.mean_weight,
                                  sum(q.mean_weight) filter (where not taskqueue.is_background(q.mean_weight, q.allow_background))
                                    over (partition by q.owner_group, q.entity),
                                  q.allow_background) as priority
      from queue q join owner o using (owner_group)
      left join taskqueue.share_correction c on c.setup = p_setup and c.owner_group = q.owner_group and c.owner_dn = q.entity
  )
  select w.task_queue_id, w.mean_weight, sum(w.priority) over (partition by w.family) from own w
$$;

comment on function taskqueue.share_of_queue(text, text) is
'Mean draw weight and priority of each TaskQueue of a setup or of one owner group, from the shares, the jobs as they are and the corrections (section 9).';
-- file: taskqueue/state_of_job.sql
-- The states of a job in this room: waiting (or held), leased (matched or running), ended.
create or replace function taskqueue.state_of_job(p_setup text, p_job_id bigint) returns text
language plpgsql stable
as $$
declare
  v_state text;
begin
  select case when j.held then 'held' else 'waiting' end into v_state from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id;
  if v_state is null then
    select 'leased (' || l.state || ')' into v_state from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id;
  end if;
  if v_state is null then
    select 'ended (' || e.outcome || ')' into v_state from taskqueue.ended e where e.setup = p_setup and e.job_id = p_job_id;
  end if;
  if v_state is null then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup using errcode = 'PB004', hint = 'It was never inserted, or ended and forgotten.';
  end if;
  return v_state;
end $$;

comment on function taskqueue.state_of_job(text, bigint) is 'State of a job, in words. Errors: PB004 (no such job).';
-- file: taskqueue/surplus_slots.sql
-- Section 7: lowering a limit evicts nobody, so there may be more slots, free and used, than its ceiling: as many as there are rows with
-- negative numbers. They are never made but where nobody is inside the setup, so that a match which has read them has read all.
create or replace function taskqueue.surplus_slots(p_setup text, p_limit_id bigint) returns bigint
language sql stable
as $$
  select count(*) from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id and s.slot < 0
$$;

comment on function taskqueue.surplus_slots(text, bigint) is
'How many slots a running limit has above its ceiling, since it was lowered.';
-- file: taskqueue/tags_offered.sql
-- Section 4, condition 6: NumberOfProcessors n (1..1024) offers 1Processors..nProcessors and, for n > 1, MultiProcessor; WholeNode offers WholeNode.
create or replace function taskqueue.tags_offered(p_resource jsonb) returns text[]
language plpgsql immutable
as $$
declare
  v_tags text[] := taskqueue.texts('Tag', p_resource -> 'Tag');
  v_any boolean := taskqueue.says_any(v_tags);
  v_number numeric;
begin
  if p_resource ? 'NumberOfProcessors' then
    v_number := taskqueue.one_number('NumberOfProcessors', p_resource -> 'NumberOfProcessors');
    if v_number < 1 or v_number > 1024 or v_number <> trunc(v_number) then
      raise exception 'NumberOfProcessors is %, which is not an integer within 1..1024', p_resource -> 'NumberOfProcessors'
        using errcode = 'PB001', hint = 'Give the number of processors of the slot.';
    end if;
    v_tags := v_tags || array(select i || 'Processors' from generate_series(1, v_number::int) i);
    if v_number > 1 then
      v_tags := v_tags || 'MultiProcessor'::text;
    end if;
  end if;
  if p_resource ? 'WholeNode' then
    if jsonb_typeof(p_resource -> 'WholeNode') <> 'boolean' then
      raise exception 'WholeNode is %, which is not true or false', p_resource -> 'WholeNode' using errcode = 'PB001', hint = 'Give true or false.';
    end if;
    if (p_resource -> 'WholeNode')::boolean then
      v_tags := v_tags || 'WholeNode'::text;
    end if;
  end if;
  return case when not v_any then v_tags end;
end $$;

comment on function taskqueue.tags_offered(jsonb) is
'The tags that a resource offers by Tag, NumberOfProcessors and WholeNode; null = no condition (Tag says any). Errors: PB001.';
-- file: taskqueue/take_job.sql
-- Section 5, steps 3 and 4, where the job that the draws point at is locked or was just taken: the user priorities in drawn order, of each the first ten
-- by id in drawn order, then those after them. A job that another transaction has locked is passed over, as if it were not there.
create or replace function taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) returns taskqueue.job
language plpgsql
as $$
declare
  v_job taskqueue.job;
  v_level record;
  v_ids bigint[];
  v_id bigint;
  v_after bigint;
begin
  for v_level in select u.user_priority, u.first_id from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u loop
    v_after := coalesce(v_level.first_id, 1) - 1;
    loop
      v_ids := array(select j.job_id from taskqueue.job j
                      where j.setup = p_setup and j.task_queue_id = p_task_queue_id and j.user_priority = v_level.user_priority and not j.held
                        and j.job_id > v_after
                      order by j.job_id limit 10);
      for v_id in select i from unnest(v_ids) i order by taskqueue.draw(i, p_seed # 1) loop
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (
               select l.ctid from taskqueue.job l
                where l.setup = p_setup and l.job_id = v_id and l.task_queue_id = p_task_queue_id and l.user_priority = v_level.user_priority and not l.held
                  for update skip locked)
        returning j.* into v_job;
        if found then
          return v_job;
        end if;
      end loop;
      exit when cardinality(v_ids) < 10;
      v_after := v_ids[10];
    end loop;
  end loop;
  return null;
end $$;

comment on function taskqueue.take_job(text, bigint, boolean, text, bigint) is
'Takes a job of a queue out of waiting; null when there is none that is not locked.';
-- file: taskqueue/task_queue_bucket.sql
-- The CPU-bucketing trigger (seed 004, "Task Queue Implementation").
create or replace trigger task_queue_bucket
before insert or update of cpu_time on taskqueue.task_queue
for each row execute function taskqueue.round_cpu_time();

comment on trigger task_queue_bucket on taskqueue.task_queue is
'Rounds CPU time up to the next bucket of the setup.';
-- file: taskqueue/tests_of.sql
-- Most definitions ask for little, and most offers can refuse little: where no bit is set in both (taskqueue.definition.demands), the conditions need not
-- be evaluated one by one, which costs 25 us of starting them up. Owner, Site, BannedSites, Platform and Tag are compared all the same.
create or replace function taskqueue.tests_of(p_offer taskqueue.offer) returns int
language sql immutable
as $$
  select case when p_offer.required_tags is not null or p_offer.banned_sites is not null
                   or p_offer.banned_grid_ces is not null or p_offer.banned_platforms is not null or p_offer.banned_job_types is not null
                   or p_offer.banned_tags is not null or p_offer.limited or cardinality(p_offer.sites) <> 1 or cardinality(p_offer.grid_ces) <> 1 then 1 else 0 end
         | case when p_offer.max_ram is null then 0 else 2 end | 4 | case when p_offer.job_types is null then 0 else 8 end
         | case when p_offer.grid_ces is null then 0 else 16 end
$$;

comment on function taskqueue.tests_of(taskqueue.offer) is
'Which demands of a definition an offer may not meet, as bits of taskqueue.definition.demands; bit 1: all conditions are to be tested.';
-- file: taskqueue/texts.sql
-- A JSON value that is one text or a list of texts, as a set: sorted, without duplicates (section 2: lists are compared as sets).
create or replace function taskqueue.texts(p_key text, p_value jsonb) returns text[]
language plpgsql immutable
as $$
declare
  v_texts text[];
begin
  case coalesce(jsonb_typeof(p_value), 'null')
    when 'null' then
      return '{}'::text[];
    when 'string' then
      v_texts := array[p_value #>> '{}'];
    when 'array' then
      if jsonb_array_length(p_value) = 0 then
        return '{}'::text[];
      end if;
      if p_value @? 'strict $[*] ? (@.type() != "string")' then  -- lax would look into lists within the list
        raise exception '% holds %, which is not a text', p_key, jsonb_path_query_first(p_value, 'strict $[*] ? (@.type() != "string")')
          using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
      end if;
      select array_agg(distinct t order by t) into v_texts from jsonb_array_elements_text(p_value) t;
    else
      raise exception '% is %, which is not a text or a list of texts', p_key, p_value
        using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
  end case;
  if length(array_to_string(v_texts, '')) > 1000 and exists (select from unnest(v_texts) t where length(t) > 1000) then
    raise exception '% holds a text of % characters', p_key, (select max(length(t)) from unnest(v_texts) t)
      using errcode = 'PB001', hint = 'A text may have 1,000 characters.';
  end if;
  if '' = any (v_texts) then
    raise exception '% holds an empty text: %', p_key, p_value
      using errcode = 'PB001', hint = format('Leave %s out where nothing is asked.', p_key);
  end if;
  return v_texts;
end $$;

comment on function taskqueue.texts(text, jsonb) is
'The texts of a JSON value (one text or a list; null, [] and nothing at all give none), sorted and without duplicates. Errors: PB001, naming the key.';
-- file: taskqueue/use_slots.sql
-- Section 7: see taskqueue.lock_slots. A delay is a token bucket kept as a clock: next_at is when the bucket is full again.
create or replace function taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) returns void
language sql
as $$
  with gone as (
    delete from taskqueue.limit_slot s
     using jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
     where s.setup = p_setup and s.limit_id = l.limit_id and s.slot = l.slot
    returning s.limit_id, s.slot
  )
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot) select p_setup, p_job_id, g.limit_id, g.slot from gone g;
  update taskqueue.site_limit d set next_at = greatest(d.next_at, resource.clock(p_setup)) + d.delay
    from jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
   where d.setup = p_setup and d.limit_id = l.limit_id and l.slot is null;
$$;

comment on function taskqueue.use_slots(text, bigint, jsonb) is
'Gives the slots locked by taskqueue.lock_slots to a job, and moves the clocks of its delays.';
-- file: taskqueue/user_priority_order.sql
-- after: taskqueue.job_level
-- Section 5, steps 3 and 4: the user priorities of a queue in the order in which they are tried, one draw each instead of one a job:
-- 4 us against 18.5 ms for the literal draw at 300,000 jobs. 0 is a class after all others, 10 with ten_first one before them (section 3).
create or replace function taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text)
returns table (user_priority smallint, jobs bigint, changes bigint, first_id bigint)
language sql stable
rows 3
as $$
  select n.user_priority, n.jobs, n.changes, n.first_id
    from (select l.*, taskqueue.draw(l.user_priority, p_seed) as draw, greatest(l.jobs, 1)::float8 as count, greatest(l.user_priority, 1)::float8 as weight
            from taskqueue.job_level(p_setup, p_task_queue_id) l offset 0) n  -- a fence, else taskqueue.draw_key is not inlined
   order by case when n.jobs <= 0 then 3 when n.user_priority = 0 then 2 when n.user_priority = 10 and p_ten_first then 0 else 1 end,
            taskqueue.draw_key(n.draw, n.count, n.weight, p_policy)
$$;

comment on function taskqueue.user_priority_order(text, bigint, bigint, boolean, text) is
'User priorities of a queue in drawn order, with the jobs counted there and how many changes of counts are not folded; those counted empty come last.';
-- file: taskqueue/vacate_places.sql
-- after: taskqueue.measure_lists
-- A queue leaves its lists: at each of its places the last queue of the band takes over, so that no draw hits an empty place. Nobody waits: a list that
-- somebody works on, or whose last queue somebody is dropping, keeps a gap until taskqueue.close_gaps. And an agent that finds a queue empty while
-- it is being moved leaves that queue for the next.
create or replace function taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) returns void
language plpgsql
as $$
declare
  v_list_ids bigint[];
  v_bands int[];
  v_places int[];
  v_movable bigint[];
begin
  v_list_ids := array(select l.list_id from taskqueue.posting_list l
                       where l.setup = p_setup
                         and l.list_id in (select p.list_id from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id)
                       order by l.site, l.cpu_time
                         for update skip locked);
  with gone as (
    delete from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id returning p.list_id, p.band, p.place
  )
  select array_agg(g.list_id), array_agg(g.band), array_agg(g.place) into v_list_ids, v_bands, v_places from gone g where g.list_id = any (v_list_ids);
  if v_list_ids is null then
    return;
  end if;
  v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                      where q.setup = p_setup
                        and q.task_queue_id in (select o.task_queue_id from unnest(v_list_ids, v_bands) g (list_id, band)
                                                 cross join lateral (select p.task_queue_id from taskqueue.posting p
                                                                      where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band
                                                                      order by p.place desc limit 1) o)
                        for no key update skip locked);
  update taskqueue.posting p set place = g.place
    from unnest(v_list_ids, v_bands, v_places) g (list_id, band, place)
   cross join lateral (select i.place, i.task_queue_id from taskqueue.posting i
                        where i.setup = p_setup and i.list_id = g.list_id and i.band = g.band
                        order by i.place desc limit 1) o
   where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band and p.place = o.place and o.place > g.place and o.task_queue_id = any (v_movable);
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
end $$;

comment on function taskqueue.vacate_places(text, bigint) is
'Removes the postings of a queue that goes, and closes the gaps.';
-- file: taskqueue/wanted_posting.sql
-- after: taskqueue.band_of
-- What the postings must be, from the truth: task_queue, task_queue_site, task_queue_banned_site, held_owner.
create or replace view taskqueue.wanted_posting as
select q.setup, s.site, q.cpu_time, taskqueue.band_of(q.priority) as band, q.task_queue_id
  from taskqueue.task_queue q
 cross join lateral (
        select '' as site
        union all
        select '*' where not exists (select from taskqueue.task_queue_site l where l.setup = q.setup and l.task_queue_id = q.task_queue_id)
        union
        select l.value from taskqueue.task_queue_site l
         where l.setup = q.setup and l.task_queue_id = q.task_queue_id
           and not exists (select from taskqueue.task_queue_banned_site b
                            where b.setup = l.setup and b.task_queue_id = l.task_queue_id and b.value = l.value)) s
 where q.enabled and not q.held
   and not exists (select from taskqueue.held_owner h where h.setup = q.setup and h.owner_dn = q.owner_dn);

comment on view taskqueue.wanted_posting is
'The postings that the requirement tables ask for; taskqueue.posting holds exactly these (taskqueue.check_matching compares).';
comment on column taskqueue.wanted_posting.setup is 'Tenant.';
comment on column taskqueue.wanted_posting.site is 'A site listed and not banned; * = the queue lists none; empty = every open queue.';
comment on column taskqueue.wanted_posting.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.wanted_posting.band is 'Band of its priority.';
comment on column taskqueue.wanted_posting.task_queue_id is 'TaskQueue.';
-- file: taskqueue/wanted_queue.sql
-- after: taskqueue.accepts
-- Section 4, condition 11: with JobID only that job, if it is waiting and its queue matches.
create or replace function taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) returns bigint[]
language sql stable
as $$
  select array(
    select j.task_queue_id
      from taskqueue.job j
      join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where j.setup = p_setup and j.job_id = p_offer.job_id and not j.held and taskqueue.is_open(q) and taskqueue.accepts(d, p_offer))
$$;

comment on function taskqueue.wanted_queue(text, taskqueue.offer) is
'The queue of the job that an offer wants; none: the job does not wait or is held, or its queue does not match.';
-- file: taskqueue/weight.sql
-- Section 9: for the mean draw weight, 10 counts as 1e6 with ten_first and 0 as 1e-5; else a user priority weighs as it is.
create or replace function taskqueue.weight(p_user_priority int, p_ten_first boolean) returns float8
language sql immutable
as $$
  select case when p_user_priority = 0 then 1e-5 when p_user_priority = 10 and p_ten_first then 1e6 else p_user_priority end::float8
$$;

comment on function taskqueue.weight(int, boolean) is
'Draw weight of a user priority for the shares (section 9).';
-- file: taskqueue/weight_of_queue.sql
-- after: taskqueue.job_level
-- Section 9: tp is the mean draw weight of a queue's jobs. A queue without jobs that could be matched keeps the one it had.
create or replace function taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) returns table (weight float8)
language sql stable
rows 1
as $$
  select coalesce(sum(c.jobs * taskqueue.weight(c.user_priority, p_ten_first)) / nullif(sum(c.jobs), 0), p_queue.mean_weight)
    from taskqueue.job_level(p_queue.setup, p_queue.task_queue_id) c
$$;

comment on function taskqueue.weight_of_queue(taskqueue.task_queue, boolean) is
'Mean draw weight of the jobs of a TaskQueue, as they are now.';
-- file: taskqueue/with_limits.sql
-- Section 7: which limits of the offered site are reached. A lease records one site and CE, so where an offered site has a limit the
-- description must name exactly one. Without limits this is one index probe.
create or replace function taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) returns taskqueue.offer
language plpgsql stable
as $$
declare
  v_named text[] := taskqueue.texts('Site', p_resource -> 'Site');
  v_key text;
begin
  p_offer.limited := exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named));
  if not p_offer.limited then
    return p_offer;
  end if;
  v_key := case when cardinality(p_offer.sites) is distinct from 1 then 'Site'
                when cardinality(p_offer.grid_ces) is distinct from 1
                     and exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named) and l.grid_ce is not null) then 'GridCE' end;
  if v_key is not null then
    raise exception '% is %, and limits are set at %', v_key, coalesce((p_resource -> v_key)::text, 'missing'), array_to_string(v_named, ', ')
      using errcode = 'PB001', hint = 'Name exactly one site, and one CE where limits are set for CEs.';
  end if;
  p_offer.reached := array(
    select l.limit_id
      from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1]
       and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and case l.kind
             when 'running' then not exists (select from taskqueue.limit_slot s
                                              where s.setup = l.setup and s.limit_id = l.limit_id and s.slot > 0
                                             offset taskqueue.surplus_slots(l.setup, l.limit_id))
             else l.next_at > resource.clock(p_setup) + (l.burst - 1) * l.delay
           end);
  return p_offer;
end $$;

comment on function taskqueue.with_limits(text, jsonb, taskqueue.offer) is
'The offer with the limits of its site that are reached (section 7). Errors: PB001 (not exactly one site or CE named where limits are set).';
