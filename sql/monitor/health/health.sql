-- What `broker doctor` shows.
create or replace view monitor.health as
select f.area, f.object, f.value, f.verdict, f.cost, f.remedy
  from (select * from monitor.health_setting
        union all
        select * from monitor.health_snapshot
        union all
        select * from monitor.health_session
        union all
        select * from monitor.health_table
        union all
        select * from monitor.health_work
        union all
        select * from monitor.health_clock
        union all
        select * from monitor.health_loop
        union all
        select * from monitor.health_profile
        union all
        select * from monitor.health_standby
        union all
        -- least privilege: everything else is seen without it
        select 'rights', 'pg_read_all_stats', 'lacking', 'advice',
               'sessions of other users are seen by process id and transactions only, not since when, in which state, '
               'or whether left open',
               format('grant pg_read_all_stats to %I, which also shows their queries; or look as a superuser',
                      current_user)
         where not pg_has_role(current_user, 'pg_read_all_stats', 'usage')) f
 order by array_position(array['problem', 'advice', 'ok'], f.verdict), f.area, f.object;

comment on view monitor.health is
  'What on this server holds matching back and what to do about it, one row a finding, problems first; '
  '`broker doctor` prints it. problem: jobs can be lost, or matching suffers now. advice: it will, or could be faster.';
comment on column monitor.health.area is
  'setting, snapshot, slot, lock, open call, connection, bloat, statistics, autovacuum, trigger, transaction ids, '
  'maintenance, history, loop, profile, clock, standby or rights.';
comment on column monitor.health.object is 'What was looked at.';
comment on column monitor.health.value is 'What was found.';
comment on column monitor.health.verdict is 'ok, advice or problem.';
comment on column monitor.health.cost is 'What it costs; null where it is ok.';
comment on column monitor.health.remedy is 'What to do; null where it is ok.';
