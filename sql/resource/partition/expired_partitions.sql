create or replace function resource.expired_partitions(p_table regclass, p_kept interval) returns setof regclass
language sql stable as $$
  select c.oid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    join pg_class t on t.oid = i.inhparent
   where i.inhparent = p_table and c.relname ~ '_[0-9]{8}$' and left(c.relname, -9) = t.relname
     and (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'utc' < now() - p_kept
   order by c.relname
$$;

comment on function resource.expired_partitions(regclass, interval) is
  'Daily partitions of a table, named <table>_YYYYMMDD, whose day (UTC) ended longer ago than rows are kept.';
