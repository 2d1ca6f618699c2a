create or replace view monitor.host_health as
select h.setup, h.site, h.name as host, h.score, h.ends, h.failures, h.usual, h.changed_at
  from taskqueue.health h
 where h.kind = 'host' and (h.setup = (select resource.bound_setup())) is not false;

comment on view monitor.host_health is
  'Worker nodes whose jobs ended within a day, with a score: the more often their jobs fail than the same jobs '
  'elsewhere, the higher the score.';
comment on column monitor.host_health.host is 'Name of the worker node.';
