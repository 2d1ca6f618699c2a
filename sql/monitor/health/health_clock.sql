-- Times are the server's (resource.clock). If its clock was ahead and was put back, times recorded in between lie in
-- the future. See time-and-leases.md, When the clock of the server jumps.
create or replace view monitor.health_clock as
select 'clock' as area, 'server' as object,
       case v.verdict when 'ok' then 'no lease begins in the future'
                      else format('%s up to %s in the future',
                                  case when f.leases = 1 then '1 lease begins' else f.leases || ' leases begin' end,
                                  date_trunc('second', f.ahead)) end as value,
       v.verdict,
       case v.verdict when 'advice' then 'the clock was put back: if their agents are silent, these leases expire '
                                         'later by that time, and so do the timeouts of their jobs' end as cost,
       case v.verdict when 'advice' then 'look at the clock (chronyc tracking), and let it slew; cancel jobs whose '
                                         'agents are gone' end as remedy
  from (select count(*) as leases, max(l.matched_at - t.now) as ahead
          from taskqueue.lease l
          join resource.setup s on s.setup = l.setup and s.simulated is null
          join resource.setup_time t on t.setup = l.setup
         where l.matched_at > t.now + interval '1 minute'
           and (l.setup = (select resource.bound_setup())) is not false) f
 cross join lateral (select case when f.leases > 0 then 'advice' else 'ok' end as verdict) v;

comment on view monitor.health_clock is
  'Whether the server''s clock was put back: leases that begin in the future. Part of monitor.health.';
comment on column monitor.health_clock.area is 'Area of the finding: clock.';
comment on column monitor.health_clock.object is 'Object that was examined: the server.';
