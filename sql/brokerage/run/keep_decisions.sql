-- Architecture, History: decisions are partitioned by day (UTC), partitions made ahead; a day beyond the retention is
-- counted by rule and queue and dropped.
-- All setups share the days, so the longest retention counts.
create or replace function brokerage.keep_decisions(p_days int default 3) returns bigint
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  v_changed bigint := 0;
  v_today date := (now() at time zone 'utc')::date;
  v_day date;
  v_name text;
  v_oldest timestamptz := now() - (select coalesce(max(s.decisions_kept), interval '2 days') from brokerage.setting s);
begin
  for v_day in select generate_series(v_today, v_today + p_days, interval '1 day')::date loop
    v_name := 'verdict_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('brokerage.' || v_name) is not null
               or exists (select from brokerage.verdict_default h
                           where h.decided_at >= v_day::timestamp at time zone 'utc'
                             and h.decided_at < (v_day + 1)::timestamp at time zone 'utc');
    execute format('create table brokerage.%I partition of brokerage.verdict for values from (%L) to (%L)', v_name,
                   v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    v_changed := v_changed + 1;
  end loop;
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'brokerage.verdict'::regclass and c.relname ~ '^verdict_[0-9]{8}$'
       and (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'utc' < v_oldest
  loop
    execute format('insert into brokerage.rejection_count as c (setup, run_id, rule, queue, tasks)'
                   ' select d.setup, d.run_id, q.rule, q.queue, count(*) from brokerage.%I d cross '
                   'join lateral unnest(d.queues) q'
                   '  where q.verdict = ''r'' group by d.setup, d.run_id, q.rule, q.queue'
                   ' on conflict (setup, run_id, rule, queue) do update set tasks = c.tasks + excluded.tasks', v_name);
    execute format('drop table brokerage.%I', v_name);
    v_changed := v_changed + 1;
  end loop;
  delete from brokerage.verdict_default d where d.decided_at < v_oldest;
  delete from brokerage.run r
   -- with what they decided
   where r.started_at < resource.clock(r.setup)
         - coalesce((select s.counts_kept from brokerage.setting s where s.setup = r.setup), interval '30 days');
  delete from brokerage.live_counter c
   where c.counted_at < resource.clock(c.setup) - coalesce((select s.assignments_count from brokerage.setting s
                                                             where s.setup = c.setup), interval '15 minutes');
  return v_changed;
end $$;

comment on function brokerage.keep_decisions(int) is
  'Makes the partitions of the decisions for today (UTC) and the days ahead, counts and drops those beyond the '
  'retention, and forgets old runs; returns how many partitions changed.';
