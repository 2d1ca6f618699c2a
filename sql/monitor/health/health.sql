-- `broker doctor` shows this view.
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
        select * from monitor.health_history
        union all
        select * from monitor.health_clock
        union all
        select * from monitor.health_loop
        union all
        select * from monitor.health_profile
        union all
        select * from monitor.health_standby
        union all
        -- a role that does not inherit, as that of the service, does not get the right from its groups
        select 'rights', l.rolname, 'has no CONNECT', 'advice',
               'this login has a role of pgbroker, and cannot connect to this database',
               format('grant connect on database %I to %I', current_database(), l.rolname)
          from pg_roles l
         where l.rolcanlogin and not has_database_privilege(l.oid, current_database(), 'connect')
           and exists (select from resource.installation_role h
                         join pg_roles m on m.rolname = h.role_name
                        where pg_has_role(l.oid, m.oid, 'member'))
        union all
        -- least privilege: all other findings are visible without it
        select 'rights', 'pg_read_all_stats', 'lacking', 'advice',
               'other users'' sessions show only process id and transactions, not their time, their state, '
               'or whether they are left open',
               format('grant pg_read_all_stats to %I, which also shows their queries; or ask as a superuser',
                      current_user)
         where not pg_has_role(current_user, 'pg_read_all_stats', 'usage')) f
 order by array_position(array['problem', 'advice', 'ok'], f.verdict), f.area, f.object;

comment on view monitor.health is
  'Findings about this server that hold matching back, each with its remedy, one row per finding, problems first; '
  '`broker doctor` prints them. A problem means that jobs can be lost or that matching suffers now. Advice means that '
  'matching will suffer, or could be faster.';
comment on column monitor.health.area is
  'Area of the finding: setting, snapshot, slot, lock, open call, connection, bloat, statistics, autovacuum, trigger, '
  'transaction ids, maintenance, history, loop, profile, clock, standby or rights.';
comment on column monitor.health.object is 'Object that was examined.';
comment on column monitor.health.value is 'Value that was found.';
comment on column monitor.health.verdict is 'Verdict: ok, advice or problem.';
comment on column monitor.health.cost is 'Cost of the finding; null if the verdict is ok.';
comment on column monitor.health.remedy is 'Remedy; null if the verdict is ok.';
