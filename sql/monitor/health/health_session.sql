-- The view shows who is connected, who waits, who leaves transactions open, and how much is committed. Without
-- pg_read_all_stats nobody sees whether another user's session is idle in its transaction; in that case the view says
-- nothing about it. Long because each finding is a row with its own text and advice.
create or replace view monitor.health_session as
with here (database_id, sees_all) as (
  select d.oid, pg_has_role(current_user, 'pg_read_all_stats', 'usage')
    from pg_database d
   where d.datname = current_database()
), session as (
  select a.pid, case when (select resource.bound_setup()) is not null then 'a login'
              else coalesce(a.usename, 'the server') end as usename, a.state, a.state_change, a.datid as database_id
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
     and exists (select from pg_locks l
                  where l.pid = s.pid and l.locktype = 'advisory' and l.granted and l.database = s.database_id)
), connected as (
  select sum(d.numbackends) as used,
         (select sum(case s.name when 'max_connections' then 1 else -1 end * s.setting::int) from pg_settings s
           where s.name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) as free
    from pg_stat_database d
), traffic as (
  select d.sessions, d.xact_commit as commits,
         d.xact_commit / greatest(extract(epoch from now() - coalesce(d.stats_reset, b.stats_reset)),
                                  1) as commits_per_second
    from pg_stat_database d
   cross join pg_stat_bgwriter b
   where d.datname = current_database()
)
select 'lock' as area, format('session %s of %s', w.pid, w.usename) as object,
       format('waits %s for %s', date_trunc('second', w.waits),
              coalesce(w.relation::regclass::text, w.locktype)) as value,
       'problem' as verdict,
       'no call of an agent waits this long for another call; a call that changes limits or CPU buckets '
       'gives up with PB006' as cost,
       format('look at the blocking session: select * from pg_stat_activity where pid = any (pg_blocking_pids(%s))',
              w.pid) as remedy
  from waiting w
 union all
select 'lock', 'sessions that wait for a lock', '0', 'ok', null, null where not exists (select from waiting)
 union all
select 'open call', format('session %s of %s', o.pid, o.usename),
       format('idle in its transaction for %s', date_trunc('second', o.idle)),
       'advice',
       'limits at which it counts look reached, and set_limit and set_cpu_buckets fail with PB006 until it ends',
       format('commit after each call; to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s''',
              o.usename)
  from left_open o
 union all
select 'open call', 'transactions left open', '0', 'ok', null, null
  from here h
 where h.sees_all and not exists (select from left_open)
 union all
select 'connection', 'connections', format('%s of %s', c.used, c.free), v.verdict,
       case when v.verdict <> 'ok' then 'agents are refused when no connection is left' end,
       case when v.verdict <> 'ok' then 'put PgBouncer in transaction mode before the server: few connections serve '
                                        'many agents better' end
  from connected c
 cross join lateral (select case when c.used >= 0.95 * c.free then 'problem'
                                 when c.used >= 0.8 * c.free then 'advice'
                                 else 'ok' end as verdict) v
 union all
-- measured: the first match of a connection takes 10 ms, the following take 0.8 ms
select 'connection', 'calls a connection',
       format('%s transactions in %s connections', t.commits, t.sessions),
       v.verdict,
       case when v.verdict <> 'ok' then 'a new connection reads the catalogue and plans: its first match takes 10 '
                                        'times as long as later ones' end,
       case when v.verdict <> 'ok' then 'keep connections open between calls (JobAgent does), or put PgBouncer in '
                                        'transaction mode before the server' end
  from traffic t
 cross join lateral (
   select case when t.sessions >= 200 and t.commits < 10 * t.sessions then 'advice' else 'ok' end as verdict) v
 union all
-- measured: 8,200 matches/s, and 12,100 with commit_delay = 100 us; with fewer commits no other session is waiting
select 'setting', 'commit_delay',
       format('%s us at %s transactions/s', s.setting, round(t.commits_per_second)),
       v.verdict,
       case when v.verdict <> 'ok' then 'each commit waits for the disk alone: with a delay, clients that commit '
                                        'together do up to half as much work again' end,
       case when v.verdict <> 'ok'
            then 'alter system set commit_delay = 100, then select pg_reload_conf(); try it, and compare' end
  from traffic t
  join pg_settings s on s.name = 'commit_delay'
 cross join lateral (
   select case when s.setting = '0' and t.commits >= 1000 and t.commits_per_second >= 500 then 'advice'
               else 'ok' end as verdict) v;

comment on view monitor.health_session is
  'Findings about waits for locks, open transactions, connections and commits. Part of monitor.health.';
comment on column monitor.health_session.area is 'Area of the finding: lock, open call, connection or setting.';
comment on column monitor.health_session.object is 'Session, or the object that was examined.';
