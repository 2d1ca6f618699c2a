-- A standby reports its own sessions, settings and statistics. Its users have to know that it is a standby.
create or replace view monitor.health_standby as
select 'standby' as area, 'this server' as object,
       format('a standby, %s; its last commit was %s',
              case when exists (select from pg_stat_wal_receiver) then 'which streams' else 'which does not stream' end,
              coalesce(date_trunc('second', clock_timestamp() - pg_last_xact_replay_timestamp()) || ' ago',
                       'at an unknown time'))
       as value,
       'advice' as verdict,
       'sessions, locks, settings and dead rows are those of the standby; those of the primary, and resources that '
       'taskqueue.maintain has not rolled up, are known only on the primary' as cost,
       'look at the primary as well' as remedy
 where pg_is_in_recovery();

comment on view monitor.health_standby is
  'Whether this server is a standby, and how old its last commit is. There is no row on a primary. Part of '
  'monitor.health.';
comment on column monitor.health_standby.area is 'Area of the finding: standby.';
comment on column monitor.health_standby.object is 'Object that was examined: this server.';
