-- Who asks.
create or replace view monitor.resource_seen as
select k.setup, k.class, k.last_seen, k.first_seen, k.samples, k.matched, k.resource
  from taskqueue.resource_kind k
 where (k.setup = (select resource.bound_setup())) is not false;

comment on view monitor.resource_seen is
  'Kinds of resources seen lately: descriptions as they came, without JobID, CPUTime as the bucket that it covers. '
  'A standby has those that taskqueue.maintain has rolled up.';
