-- As those of the TaskQueues: partitions by day made ahead, a default partition catches the rest, pruning is a
-- drop. A day whose changes are in the default partition already stays there. All setups share the partitions,
-- so the longest retention counts.
create or replace function workload.make_history_partitions(p_days int default 3) returns bigint
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  v_changed bigint := 0;
  v_day date;
  v_name text;
  v_oldest date :=
    (now() at time zone 'utc')::date
    - (select coalesce(ceil(extract(epoch from max(coalesce(s.history_kept, interval '30 days'))) / 86400), 30)::int
          from resource.setup p left join workload.setting s on s.setup = p.setup);
begin
  for v_day in
    select generate_series((now() at time zone 'utc')::date, (now() at time zone 'utc')::date + p_days,
                           interval '1 day')::date
  loop
    v_name := 'job_history_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('workload.' || v_name) is not null
               or exists (select from workload.job_history_default h
                           where h.at >= v_day::timestamp at time zone 'utc'
                             and h.at < (v_day + 1)::timestamp at time zone 'utc');
    execute format('create table workload.%I partition of workload.job_history for values from (%L) to (%L)', v_name,
                   v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    v_changed := v_changed + 1;
  end loop;
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'workload.job_history'::regclass and c.relname ~ '^job_history_[0-9]{8}$'
       and to_date(right(c.relname, 8), 'YYYYMMDD') < v_oldest
  loop
    execute format('drop table workload.%I', v_name);
    v_changed := v_changed + 1;
  end loop;
  return v_changed;
end $$;

comment on function workload.make_history_partitions(int) is
  'Makes the partitions of workload.job_history for today (UTC) and the days ahead, and drops those beyond the '
  'retention; returns how many changed.';
