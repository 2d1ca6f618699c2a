-- The view lists the holders of snapshots that keep deleted rows from being cleaned. Everybody sees process ids and
-- transaction ids, but only members of pg_read_all_stats see times and states of other users' sessions. The age of a
-- snapshot is therefore counted in transactions, which is also its cost.
create or replace view monitor.snapshot_holder (object, transactions, since, detail, remedy) as
with session as (
  select a.pid, a.datid, a.state, a.xact_start, a.backend_xid, a.backend_xmin, a.application_name, d.oid as database_id,
         -- logins may be named after setups
         case when (select resource.bound_setup()) is null or a.usename is null then a.usename
              else 'a login' end as usename
    from pg_stat_activity a
    join pg_database d on d.datname = current_database()
   where a.pid <> pg_backend_pid()
)
-- A session of another database that has written keeps dead rows of this database: each new snapshot reaches back to
-- it. A vacuum never keeps dead rows.
select case when s.datid is null then format('process %s for standby %s', s.pid, s.application_name)
            else format('session %s of %s', s.pid, coalesce(s.usename, 'the server')) end,
       greatest(age(s.backend_xmin), age(s.backend_xid)), s.xact_start, s.state,
       case when s.datid is null then 'end the long query on the standby, or set hot_standby_feedback = off there'
            -- a process of autovacuum, or a session whose role was dropped
            when s.usename is null then format('select pg_terminate_backend(%s)', s.pid)
            else format('select pg_terminate_backend(%s); to bound it: alter role %I set '
                        'idle_in_transaction_session_timeout = ''60s''', s.pid, s.usename) end
  from session s
 where coalesce(s.backend_xmin, s.backend_xid) is not null
   and (s.datid is null or s.datid = s.database_id or s.backend_xid is not null)
   and s.pid not in (select p.pid from pg_stat_progress_vacuum p)
 union all
select format('prepared transaction %s', p.gid), age(p.transaction), p.prepared,
       case when (select resource.bound_setup()) is null then p.owner end,
       format('in database %I: commit prepared %L, or rollback prepared %L', p.database, p.gid, p.gid)
  from pg_prepared_xacts p
 union all
select format('replication slot %s', r.slot_name), age(r.xmin), null,
       case when r.active then 'active' else 'inactive' end,
       format('start its standby, or select pg_drop_replication_slot(%L)', r.slot_name)
  from pg_replication_slots r
 where r.xmin is not null;

comment on view monitor.snapshot_holder is
  'Holders of snapshots that keep deleted rows from being cleaned: sessions, prepared transactions, replication slots '
  'and standbys. monitor.health judges them.';
comment on column monitor.snapshot_holder.object is 'Name of the session, prepared transaction, slot or standby.';
comment on column monitor.snapshot_holder.transactions is
  'Age of its snapshot: number of transactions that have begun since.';
comment on column monitor.snapshot_holder.since is 'Beginning of its transaction; null = not known, or not shown.';
comment on column monitor.snapshot_holder.detail is
  'State of the session, owner of the transaction, or state of the slot.';
comment on column monitor.snapshot_holder.remedy is 'How to end the snapshot.';
