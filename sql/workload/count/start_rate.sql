-- See analysis-load.md, stabilizer. The rate is that of all shares at a queue, from which the rate of one share
-- follows. If the rate of a share was loaded, the starts of that share are added to it.
create or replace view workload.start_rate as
with started as (
  select s.setup, s.queue, s.gshare, sum(s.jobs)::float8 / 6 as rate
    from workload.job_start s
    join resource.setup_time t on t.setup = s.setup
   cross join lateral (select date_trunc('minute', t.now - interval '6 hours', 'utc')) w(since)
   -- the second condition is for the index
   where s.queue is not null and s.minute >= w.since and s.last_at >= w.since and s.minute <= t.now
   group by s.setup, s.queue, s.gshare
)
select r.setup, r.queue, r.gshare, r.rate
  from workload.to_running_rate r
union all
select s.setup, s.queue, '', s.rate
  from started s
union all
select s.setup, s.queue, s.gshare, s.rate
  from started s
  join workload.to_running_rate r on r.setup = s.setup and r.queue = s.queue and r.gshare = s.gshare and r.gshare <> '';

comment on view workload.start_rate is
  'Jobs that begin to run per hour: the rows of workload.to_running_rate, and the starts in this database in the last '
  '6 h. A key may have several rows; sum them.';
comment on column workload.start_rate.queue is 'Unified queue.';
comment on column workload.start_rate.gshare is
  'Global share; empty = all shares. A share has rows only if its rate was loaded.';
comment on column workload.start_rate.rate is 'Jobs per hour; sum the rows.';
