-- A partitioned table is one row.
create or replace view monitor.table_size as
select n.nspname::text as schema, c.relname::text as "table", s.partitions, s.rows, s.dead,
       pg_size_pretty(s.bytes) as size, pg_size_pretty(s.index_bytes) as indexes, s.bytes + s.index_bytes as bytes
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
 cross join lateral (
       select nullif(count(*) - 1, 0) as partitions, coalesce(sum(u.n_live_tup), 0)::bigint as rows,
              coalesce(sum(u.n_dead_tup), 0)::bigint as dead,
              coalesce(sum(pg_table_size(t.relid)), 0)::bigint as bytes,
              coalesce(sum(pg_indexes_size(t.relid)), 0)::bigint as index_bytes
         from (select c.oid as relid union select p.relid from pg_partition_tree(c.oid) p) t
         left join pg_stat_user_tables u on u.relid = t.relid) s
 where c.relkind in ('r', 'p') and not c.relispartition
   and n.nspname::text in (select s.schema from resource.program_schema s);

comment on view monitor.table_size is 'Sizes of the tables, with their partitions: order by bytes desc.';
comment on column monitor.table_size."table" is 'Table.';
comment on column monitor.table_size.partitions is 'Number of partitions; null = the table has none.';
comment on column monitor.table_size.rows is 'Number of rows, as the statistics of the server estimate it.';
comment on column monitor.table_size.dead is 'Number of dead rows that a vacuum has not removed yet (estimate).';
comment on column monitor.table_size.size is 'Size of the table, with its long values.';
comment on column monitor.table_size.indexes is 'Size of its indexes.';
comment on column monitor.table_size.bytes is 'Size of the table and its indexes (bytes).';
comment on column monitor.table_size.schema is 'Schema.';
