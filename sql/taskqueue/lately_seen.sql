-- Classes of resources: rolled up by taskqueue.maintain, and seen since.
create or replace function taskqueue.lately_seen(p_setup text)
returns table (class uuid, resource jsonb, first_seen timestamptz, last_seen timestamptz, samples bigint, matched bigint)
language sql stable
as $$
  select s.class, (array_agg(s.resource))[1], min(s.first_seen), max(s.last_seen), sum(s.samples)::bigint, sum(s.matched)::bigint
    from (select c.class, c.resource, c.first_seen, c.last_seen, c.samples, c.matched from taskqueue.resource_class c where c.setup = p_setup
          union all
          select r.class, r.resource, r.seen_at, r.seen_at, 1, r.matched::int from taskqueue.resource_seen r where r.setup = p_setup) s
   group by s.class
$$;

comment on function taskqueue.lately_seen(text) is
'Kinds of resources seen lately: description, when first and last seen, in how many ten-second windows, and in how many of those the sampled request got a job.';
