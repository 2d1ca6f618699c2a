-- The view judges the tables of the schema taskqueue as the server sees them. Tables are found in the catalogue, not
-- named one by one, except those that a match reads. Long because each finding is a row with its own text and advice.
create or replace view monitor.health_table as
with relation as (
  select c.oid, c.relname as name, c.relkind as kind, c.reltuples, c.reloptions, c.relowner,
         pg_relation_size(c.oid) as bytes, i.indrelid as table_id
    from pg_class c
    left join pg_index i on i.indexrelid = c.oid
   where c.relnamespace = 'taskqueue'::regnamespace and c.relkind in ('r', 'i')
), hot as (
  select r.* from relation r
   where r.kind = 'r'
     and r.name in ('definition', 'task_queue', 'posting_list', 'posting', 'parsed_description', 'job', 'hand',
                    'job_count_change', 'lease', 'limit_slot')
), used as (
  select s.relid, s.relname as name, s.n_live_tup as live, s.n_dead_tup as dead,
         greatest(s.last_vacuum, s.last_autovacuum) as cleaned,
         coalesce(s.last_analyze, s.last_autoanalyze) is null as never_analyzed,
         case when s.n_dead_tup < 50000 or s.n_dead_tup <= s.n_live_tup then 'ok'
              when s.n_dead_tup < 500000 then 'advice'
              else 'problem' end as verdict
    from pg_stat_user_tables s
   where s.schemaname = 'taskqueue'
), swollen as (
  -- a row or an index entry of these tables takes 60 to 200 bytes
  select r.name, r.kind, r.bytes, u.live
    from relation r
    join hot t on t.oid = coalesce(r.table_id, r.oid) and t.name not in ('definition', 'task_queue')
    join used u on u.relid = t.oid
   where r.bytes >= 16 * 1024 ^ 2 and r.bytes > 1000 * u.live
), memory as (
  select (select sum(pg_total_relation_size(h.oid)) from hot h) as needed, s.setting::bigint * 8192 as given
    from pg_settings s where s.name = 'shared_buffers'
)
-- measured: 0.34 ms per match, 0.47 ms after 90,000 matches without a vacuum
select 'bloat' as area, 'table ' || u.name as object,
       format('%s dead rows, %s live, last cleaned %s', u.dead, u.live,
              coalesce(date_trunc('second', u.cleaned)::text, 'never')) as value,
       u.verdict,
       'matches scan them and take a third longer for each 100,000' as cost,
       format('vacuum taskqueue.%I; if they stay, an old snapshot holds them; if they come back, '
              'let autovacuum run more often', u.name) as remedy
  from used u
 where u.verdict <> 'ok'
 union all
select 'bloat', 'dead rows', format('%s at most, in table %s', u.dead, u.name), 'ok', null, null
  from (select * from used order by dead desc, name limit 1) u
 where u.verdict = 'ok' and not exists (select from used o where o.verdict <> 'ok')
 union all
select 'bloat',
       case w.kind when 'i' then 'index ' else 'table ' end || w.name,
       format('%s for %s rows', pg_size_pretty(w.bytes), w.live), 'advice',
       'it takes memory from the rows that matches read, and vacuum reads all of it',
       case w.kind when 'i' then format('reindex index concurrently taskqueue.%I', w.name)
            else format('vacuum (full, analyze) taskqueue.%I, while no agents work: it locks the table', w.name) end
  from swollen w
 union all
select 'bloat', 'size of tables and indexes', 'in proportion to their rows', 'ok', null, null
 where not exists (select from swollen)
 union all
-- measured: a match takes 6 ms instead of 0.5 ms (taskqueue.refresh_statistics)
select 'statistics', 'table ' || h.name, 'never analyzed', 'advice',
       'the planner assumes that a setup is a selective key: a match takes 6 ms instead of 0.5',
       format('analyze taskqueue.%I, or select taskqueue.refresh_statistics()', h.name)
  from hot h
  join used u on u.relid = h.oid
 where h.reltuples < 0 and u.never_analyzed and h.bytes >= 64 * 1024
 union all
select 'autovacuum', 'table ' || r.name, 'switched off', 'problem',
       'the table grows, and its statistics get stale: a match with wrong statistics takes 6 ms instead of 0.5',
       format('alter table taskqueue.%I reset (autovacuum_enabled)', r.name)
  from relation r
 where r.kind = 'r' and exists (select from pg_options_to_table(r.reloptions) o
                                 where o.option_name = 'autovacuum_enabled'
                                   and lower(o.option_value) in ('off', 'false', 'no', '0'))
 union all
-- measured: NOTIFY in a trigger leaves 150 commits/s of 4,700, a counter kept by a row trigger
-- makes bulk inserts 6 times slower
select 'trigger', format('%s on %s', t.tgname, r.name), format('calls %s', t.tgfoid::regproc), 'advice',
       'it runs inside each call that writes the table: it slows matches down, and an error in it fails them',
       format('drop trigger %I on taskqueue.%I, and let one background process do its work', t.tgname, r.name)
  from pg_trigger t
  join relation r on r.oid = t.tgrelid
  join pg_proc p on p.oid = t.tgfoid and p.proowner <> r.relowner
 where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled <> 'D'
 union all
select 'setting', 'shared_buffers',
       format('%s for %s that matches read', pg_size_pretty(m.given), pg_size_pretty(m.needed)),
       v.verdict,
       case when v.verdict <> 'ok' then 'pages of the queues are read and written again and again' end,
       case when v.verdict <> 'ok' then format('alter system set shared_buffers = ''%sMB'', '
                                               'then restart the server', ceil(m.needed * 1.5 / 1024 ^ 2)) end
  from memory m
 cross join lateral (select case when m.needed > m.given then 'advice' else 'ok' end as verdict) v
 union all
-- a thousand jobs a second, each matched, reported and finished, use 260 million of the 2,000 million ids per day
select 'transaction ids', 'age of the oldest', format('%s million', age(d.datfrozenxid) / 1000000), v.verdict,
       case when v.verdict <> 'ok' then 'at 2,000 million the server takes no more transactions' end,
       case when v.verdict <> 'ok'
            then format('end old snapshots and let autovacuum work; else vacuum (freeze) database %I', d.datname) end
  from pg_database d
 cross join lateral (select case when age(d.datfrozenxid) >= 1200000000 then 'problem'
                                 when age(d.datfrozenxid) >= 600000000 then 'advice'
                                 else 'ok' end as verdict) v
 where d.datname = current_database();

comment on view monitor.health_table is
  'Dead rows, size, statistics and foreign triggers of the tables of taskqueue, and the memory for them. Part of '
  'monitor.health.';
comment on column monitor.health_table.area is
  'Area of the finding: bloat, statistics, autovacuum, trigger, setting or transaction ids.';
comment on column monitor.health_table.object is 'Name of the table, index, trigger or setting.';
