-- GUARD.md, The score. Failed jobs end before good ones, so a worker node that has just begun shows only failures.
create or replace function taskqueue.failing_hosts(p_above taskqueue.health[], p_limit float8, p_now timestamptz)
returns setof taskqueue.health
language sql stable as $$
  with above as materialized (
    select a as health, a.setup, a.site, a.name, a.score, a.failing_since,
           least(0.8, greatest(0.02, a.usual / a.ends)) as p
      from unnest(p_above) a
     where not exists (select from taskqueue.quarantine q
                        where q.setup = a.setup and q.site = a.site and q.name = a.name and q.kind = 'host')
  ), running as materialized (
    select a.site, a.name, count(*) as jobs
      from above a
      join taskqueue.lease l on l.setup = a.setup and l.host = a.name and coalesce(l.site, '') = a.site
     where l.state = 'running' and l.matched_at between a.failing_since and p_now - interval '30 minutes'
     group by a.site, a.name
  )
  select (a.health).*
    from above a
    left join running r on r.site = a.site and r.name = a.name
   where a.score > 2 * p_limit or a.score - coalesce(r.jobs, 0) * ln((1 - a.p) / 0.05) > p_limit
$$;

comment on function taskqueue.failing_hosts(taskqueue.health[], float8, timestamptz) is
  'Worker nodes of p_above whose score is above p_limit also if the jobs that run there count as good ends: jobs that '
  'were matched half an hour ago or earlier, and not before the first job that failed. A score above twice p_limit is '
  'enough. Worker nodes with a quarantine are left out.';
