-- The view judges the snapshots that keep deleted rows from being cleaned.
create or replace view monitor.health_snapshot as
with snapshot as (
  -- Matching itself skips jobs that were taken (taskqueue.hand.first_ids); only rows that vacuum may not clean add up.
  select h.*,
         case when h.transactions >= 100000 then 'problem'
              when h.transactions >= 10000 then 'advice'
              else 'ok' end as verdict,
         row_number() over (order by h.transactions desc, h.object) as place
    from monitor.snapshot_holder h
)
select 'snapshot' as area, s.object,
       concat_ws(', ', s.transactions || ' transactions', date_trunc('second', clock_timestamp() - s.since),
                 s.detail) as value,
       s.verdict,
       case when s.verdict <> 'ok'
            then 'rows deleted since then cannot be cleaned, so tables and indexes grow with every match' end as cost,
       case when s.verdict <> 'ok' then s.remedy end as remedy
  from snapshot s
 where s.place = 1 or s.verdict <> 'ok'
 union all
select 'snapshot', 'oldest transaction', 'none', 'ok', null, null where not exists (select from snapshot)
 union all
select 'slot', r.slot_name, 'inactive', 'advice',
       'the server keeps all WAL since the slot was last used, until the disk is full and the server stops',
       format('start its reader, or select pg_drop_replication_slot(%L)', r.slot_name)
  from pg_replication_slots r
 where not r.active and r.restart_lsn is not null;

comment on view monitor.health_snapshot is
  'Old snapshots of sessions, prepared transactions, replication slots and standbys; and slots that nobody reads. Part '
  'of monitor.health.';
comment on column monitor.health_snapshot.area is 'Area of the finding: snapshot or slot.';
comment on column monitor.health_snapshot.object is 'Session, prepared transaction or slot.';
