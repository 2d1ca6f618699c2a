-- Kinds of resources: those rolled up by taskqueue.maintain, and those seen since.
create or replace view taskqueue.resource_kind as
select s.setup, s.class, (array_agg(s.resource))[1] as resource, min(s.first_seen) as first_seen,
       max(s.last_seen) as last_seen, sum(s.samples)::bigint as samples, sum(s.matched)::bigint as matched
  from (select c.setup, c.class, c.resource, c.first_seen, c.last_seen, c.samples, c.matched
          from taskqueue.resource_class c
        union all
        select p.setup, r.class, r.resource, r.seen_at, r.seen_at, 1, r.matched::int
          from resource.setup p
         cross join lateral taskqueue.resources_not_rolled_up(p.setup) r) s
 group by s.setup, s.class;

comment on view taskqueue.resource_kind is
  'Kinds of resources that asked for jobs lately, rolled up or not; on a standby only those that are rolled up.';
comment on column taskqueue.resource_kind.class is 'Kind of resource.';
