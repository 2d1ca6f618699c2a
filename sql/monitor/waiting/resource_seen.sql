-- The view shows which kinds of resources ask for jobs.
create or replace view monitor.resource_seen as
select k.setup, k.class, k.last_seen, k.first_seen, k.samples, k.matched, k.resource
  from taskqueue.resource_kind k
 where (k.setup = (select resource.bound_setup())) is not false;

comment on view monitor.resource_seen is
  'Kinds of resources seen lately: their descriptions as received, except that JobID is left out and CPUTime is the '
  'bucket that it covers. A standby shows those that taskqueue.maintain has rolled up.';
