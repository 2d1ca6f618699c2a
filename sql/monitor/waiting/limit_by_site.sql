-- monitor.site_limit shows the waiting jobs that each limit concerns, and reads every posting for them.
create or replace view monitor.limit_by_site as
select l.setup, l.site, count(*) as limits,
       count(*) filter (where case l.kind when 'running' then u.used >= l.ceiling
                                          else l.next_at > t.now + (l.burst - 1) * l.delay end) as reached,
       coalesce(sum(l.ceiling) filter (where l.kind = 'running'), 0)::bigint as slots,
       coalesce(sum(u.used) filter (where l.kind = 'running'), 0)::bigint as used
  from taskqueue.site_limit l
  join resource.setup_time t on t.setup = l.setup
 cross join lateral (select count(*) as used
                       from taskqueue.limit_use i where i.setup = l.setup and i.limit_id = l.limit_id) u
 where (l.setup = (select resource.bound_setup())) is not false
 group by l.setup, l.site;

comment on view monitor.limit_by_site is 'Limits of each site, and how far they are used.';
comment on column monitor.limit_by_site.limits is 'Number of limits.';
comment on column monitor.limit_by_site.reached is 'Number of these limits that are reached now.';
comment on column monitor.limit_by_site.slots is 'Number of jobs that the limits of kind running allow together.';
comment on column monitor.limit_by_site.used is 'Leases that count at these limits; a lease may count at several.';
