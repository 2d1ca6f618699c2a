-- See ARCHITECTURE.md, History. Rows of a day without a partition go to the default partition and stay there. A
-- partition that somebody reads is dropped by a later call; the others are dropped, and the new ones stay.
create or replace function resource.keep_partitions(
  p_table regclass, p_kept interval, p_days int default 3, p_before regproc default null
) returns bigint
language plpgsql set lock_timeout = '300ms' as $$
declare
  v_schema text;
  v_table text;
  v_time text;
  v_day date;
  v_from timestamptz;
  v_taken boolean;
  v_expired regclass;
  v_changed bigint := 0;
begin
  select n.nspname, c.relname, a.attname
    into strict v_schema, v_table, v_time
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_partitioned_table p on p.partrelid = c.oid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = p.partattrs[0]
   where c.oid = p_table;
  for v_day in
    select d::date from generate_series(now() at time zone 'utc', now() at time zone 'utc' + p_days * interval '1 day',
                                        interval '1 day') d
  loop
    v_from := v_day::timestamp at time zone 'utc';
    continue when to_regclass(format('%I.%I', v_schema, v_table || to_char(v_day, '_YYYYMMDD'))) is not null;
    execute format('select exists (select from %I.%I r where r.%I >= $1 and r.%I < $1 + interval ''24 hours'')',
                   v_schema, v_table || '_default', v_time, v_time) into v_taken using v_from;
    continue when v_taken;
    execute format('create table %I.%I partition of %s for values from (%L) to (%L)', v_schema,
                   v_table || to_char(v_day, '_YYYYMMDD'), p_table, v_from, v_from + interval '24 hours');
    v_changed := v_changed + 1;
  end loop;
  for v_expired in select resource.expired_partitions(p_table, p_kept) loop
    begin
      if p_before is not null then
        execute format('select %s($1)', p_before)
          using to_date(right(v_expired::text, 8), 'YYYYMMDD')::timestamp at time zone 'utc';
      end if;
      execute format('drop table %s', v_expired);
      v_changed := v_changed + 1;
    exception when lock_not_available then
      raise warning 'partition %.% stays until a later call, since sessions use it: %', v_schema,
        (select c.relname from pg_class c where c.oid = v_expired),
        coalesce((select string_agg(distinct l.pid::text, ', ') from pg_locks l
                   where l.relation in (v_expired, p_table) and l.granted and l.pid <> pg_backend_pid()), 'none now');
    end;
  end loop;
  return v_changed;
end $$;

comment on function resource.keep_partitions(regclass, interval, int, regproc) is
  'Makes the partitions of a table for today (UTC) and the days ahead, then drops those of days that ended longer ago '
  'than rows are kept. p_before is called with the begin of each day (UTC) that is dropped, in the same step. Returns '
  'the number of partitions made or dropped. Each step waits at most 300 ms for a lock.';
