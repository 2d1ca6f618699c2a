-- Who asks.
create or replace view monitor.resource_seen as
select k.setup, k.class, k.last_seen, k.first_seen, k.samples, k.matched, k.resource
  from taskqueue.resource_kind k;

comment on view monitor.resource_seen is
  'Kinds of resources seen lately: descriptions as they came, without JobID, CPUTime as the bucket that it covers.';
comment on column monitor.resource_seen.setup is 'Tenant.';
comment on column monitor.resource_seen.class is 'Kind of resource.';
comment on column monitor.resource_seen.last_seen is 'Last seen.';
comment on column monitor.resource_seen.first_seen is 'First seen.';
comment on column monitor.resource_seen.samples is 'Ten-second windows in which it asked.';
comment on column monitor.resource_seen.matched is 'Those of them whose sampled request got a job.';
comment on column monitor.resource_seen.resource is 'Description.';
