create or replace view monitor.lease_by_site as
select l.setup, l.site, l.state, count(*) as leases, count(*) filter (where l.expires_at < t.now) as expired
  from taskqueue.lease l
  join resource.setup_time t on t.setup = l.setup
 where (l.setup = (select resource.bound_setup())) is not false
 group by l.setup, l.site, l.state;

comment on view monitor.lease_by_site is 'Leases by site and state.';
comment on column monitor.lease_by_site.site is 'Site; null = the resource named no site.';
comment on column monitor.lease_by_site.state is
  'State of the leases: matched (no report yet) or running (the agent has reported).';
comment on column monitor.lease_by_site.leases is 'Number of leases.';
comment on column monitor.lease_by_site.expired is 'Number of these leases whose time has passed.';
