-- Before the partition of a day beyond the retention is dropped, its decisions are counted by rule and queue. All
-- setups share the partitions, so the longest retention counts.
create or replace function brokerage.keep_decisions(p_days int default 3) returns bigint
language plpgsql set lock_timeout = '300ms' as $$
declare
  v_kept interval := (select coalesce(max(s.decisions_kept), interval '2 days') from brokerage.setting_in_force s);
  v_changed bigint;
begin
  v_changed := resource.keep_partitions('brokerage.verdict', v_kept, p_days, 'brokerage.count_decisions')
               + resource.keep_partitions('brokerage.recording', v_kept, p_days)
               + resource.keep_partitions('brokerage.recorded_value', v_kept + interval '1 day', p_days);
  delete from brokerage.verdict_default d where d.decided_at < now() - v_kept;
  delete from brokerage.recording_default t where t.decided_at < now() - v_kept;
  delete from brokerage.recorded_value_default t where t.noted_at < now() - v_kept - interval '1 day';
  delete from brokerage.part p where p.decided_at < date_trunc('day', now() - v_kept, 'utc');
  delete from brokerage.run r  -- together with its decisions
   using brokerage.setting_in_force s
   where s.setup = r.setup and r.started_at < resource.clock(r.setup) - s.counts_kept;
  delete from brokerage.live_counter c
   using brokerage.setting_in_force s
   where s.setup = c.setup and c.counted_at < resource.clock(c.setup) - s.assignments_count;
  return v_changed;
end $$;

comment on function brokerage.keep_decisions(int) is
  'Makes the partitions of the decisions for today (UTC) and the days ahead, counts and drops those beyond the '
  'retention, and forgets old runs. Returns the number of partitions made or dropped.';
