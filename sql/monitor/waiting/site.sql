-- The view lists sites for an operator: sites of PanDA queues, and sites that only matching knows (DIRAC's sites): a
-- lease, a failure, a TaskQueue, a limit, a quarantine or a resource names them. Their cores are not known, so a lease
-- counts as one core. The view reads every lease without a queue, every posting and the failures of an hour: read it
-- at most every few seconds. Long because each of the eight sources of sites has its own counts.
create or replace view monitor.site as
with queue as not materialized (
  select q.setup, q.panda_site as site, count(*) as queues, count(*) filter (where q.status = 'online') as online,
         string_agg(distinct q.status, ', ' order by q.status) as status
    from resource.queue q
   group by q.setup, q.panda_site
), counted as not materialized (
  select q.setup, q.panda_site as site, g.stage, sum(s.jobs)::bigint as jobs, sum(s.cores)::bigint as cores
    from resource.queue q
    join (select s.setup, s.queue, s.status, s.njobs as jobs, coalesce(s.ncores, s.njobs) as cores
            from workload.statistic s
           union all  -- instead of workload.job_statistic, which groups all queues before those of a site are chosen
          select j.setup, j.queue, j.status, j.jobs, j.cores from workload.job_by_queue j) s
      on s.setup = q.setup and s.queue = q.queue
    join (values ('pending', 1), ('defined', 1), ('waiting', 1), ('assigned', 1), ('throttled', 1), ('activated', 1),
                 ('sent', 2), ('starting', 2),
                 ('running', 3), ('holding', 3), ('merging', 3), ('transferring', 3)) g(status, stage)
      on g.status = s.status
   where q.panda_site is not null
   group by q.setup, q.panda_site, g.stage
), seen as not materialized (
  select k.setup, coalesce(q.panda_site, k.site) as site, max(k.last_seen) as pilots_seen
    from (select v.setup, s.site, max(v.last_seen) as last_seen
            from (select c.setup, c.site, c.sites, max(c.last_seen) as last_seen
                    from (select r.setup, r.resource ->> 'Site' as site,  -- grouping texts is faster than grouping JSON
                                 case when r.resource ->> 'Site' like '[%' then r.resource -> 'Site' end as sites,
                                 r.last_seen
                            from (select c.setup, c.resource, c.last_seen from taskqueue.resource_class c
                                   union all
                                  select p.setup, r.resource, r.seen_at
                                    from resource.setup p
                                   cross join lateral taskqueue.resources_not_rolled_up(p.setup) r) r) c
                   group by 1, 2, 3) v
           cross join lateral (
             select v.site where v.site is not null and jsonb_typeof(v.sites) is distinct from 'array'
              union all
             select jsonb_array_elements_text(v.sites) where jsonb_typeof(v.sites) = 'array') s
           group by v.setup, s.site) k
    left join resource.queue q on q.setup = k.setup and q.queue = k.site
   group by 1, 2
), limited as not materialized (
  select l.setup, l.site, count(*) as limits,
         count(*) filter (where case l.kind
           when 'running' then (select count(*) from taskqueue.limit_use u
                                 where u.setup = l.setup and u.limit_id = l.limit_id) >= l.ceiling
           else l.next_at > t.now + (l.burst - 1) * l.delay end) as limits_reached
    from taskqueue.site_limit l
    join resource.setup_time t on t.setup = l.setup
   group by l.setup, l.site
), leased as not materialized (
  select l.setup, l.site, count(*) filter (where l.state = 'matched') as starting,
         count(*) filter (where l.state <> 'matched') as running
    from taskqueue.lease l
   where not l.brokered and l.site is not null
   group by l.setup, l.site
), failed as not materialized (
  select h.setup, h.site, count(*) as failures
    from resource.setup_time t
    join taskqueue.history h on h.setup = t.setup and h.at > t.now - interval '1 hour'
   where h.error_class is not null and h.site is not null
   group by h.setup, h.site
), listed as not materialized (
  select w.setup, w.site,
         (select sum((select sum(n.jobs) from taskqueue.posting p
                        join taskqueue.task_queue_count n
                          on n.setup = p.setup and n.task_queue_id = p.task_queue_id
                       where p.setup = l.setup and p.list_id = l.list_id))
            from taskqueue.posting_list l
           where l.setup = w.setup and l.site = w.site)::bigint as waiting
    from (select distinct l.setup, l.site from taskqueue.posting_list l where l.site not in ('', '*')) w
   where exists (select from taskqueue.posting_list l
                   join taskqueue.posting p on p.setup = l.setup and p.list_id = l.list_id
                  where l.setup = w.setup and l.site = w.site)
     and not exists (select from resource.queue q where q.setup = w.setup and q.queue = w.site)
), source as (  -- each source is read once
  select q.setup, q.site, q.queues, q.online, q.status, null::bigint as waiting, null::bigint as listed,
         null::bigint as starting, null::bigint as running, null::bigint as waiting_cores,
         null::bigint as starting_cores, null::bigint as running_cores, null::bigint as limits,
         null::bigint as limits_reached, null::bigint as failures, null::timestamptz as pilots_seen, true as names
    from queue q where q.site is not null
   union all
  select c.setup, c.site, null, null, null, case c.stage when 1 then c.jobs end, null,
         case c.stage when 2 then c.jobs end, case c.stage when 3 then c.jobs end,
         case c.stage when 1 then c.cores end, case c.stage when 2 then c.cores end,
         case c.stage when 3 then c.cores end, null, null, null, null, true from counted c
   union all
  select s.setup, s.site, null, null, null, null, null, null, null, null, null, null, null, null, null,
         s.pilots_seen, true from seen s
   union all
  select l.setup, l.site, null, null, null, null, null, null, null, null, null, null, l.limits, l.limits_reached, null,
         null, not exists (select from resource.queue q where q.setup = l.setup and q.queue = l.site)
    from limited l
   union all
  select e.setup, e.site, null, null, null, null, null, e.starting, e.running, null, e.starting, e.running, null, null,
         null, null, not exists (select from resource.queue q where q.setup = e.setup and q.queue = e.site)
    from leased e
   union all
  select f.setup, coalesce(q.panda_site, f.site), null, null, null, null, null, null, null, null, null, null, null,
         null, f.failures, null, true
    from failed f left join resource.queue q on q.setup = f.setup and q.queue = f.site
   union all
  select w.setup, w.site, null, null, null, null, w.waiting, null, null, null, null, null, null, null, null, null,
         true from listed w
   union all
  select q.setup, q.site, null, null, null, null, null, null, null, null, null, null, null, null, null, null, true
    from monitor.quarantine_by_site q where q.site <> ''
)
select s.setup, s.site, coalesce(max(s.queues), 0) as queues, coalesce(max(s.online), 0) as online,
       max(s.status) as status, (coalesce(sum(s.waiting), 0) + coalesce(sum(s.listed), 0))::bigint as waiting,
       coalesce(sum(s.waiting), 0)::bigint as waiting_at_queues,
       coalesce(sum(s.starting), 0)::bigint as starting, coalesce(sum(s.running), 0)::bigint as running,
       (coalesce(sum(s.waiting_cores), 0) + coalesce(sum(s.listed), 0))::bigint as waiting_cores,
       coalesce(sum(s.starting_cores), 0)::bigint as starting_cores,
       coalesce(sum(s.running_cores), 0)::bigint as running_cores,
       coalesce(max(s.limits), 0) as limits, coalesce(max(s.limits_reached), 0) as limits_reached,
       coalesce(sum(s.failures), 0)::bigint as failures, max(s.pilots_seen) as pilots_seen,
       coalesce(max(g.refused), 0) as quarantined, max(g.state) as quarantine
  from source s
  left join monitor.quarantine_by_site g on g.setup = s.setup and g.site = s.site
 where (s.setup = (select resource.bound_setup())) is not false
 group by s.setup, s.site having bool_or(s.names);

comment on view monitor.site is
  'Sites with the jobs and cores that wait, start and run there, their failures and limits, and the time when their '
  'pilots were last seen. A TaskQueue that lists several sites counts at each of them; one that lists none counts at '
  'no site.';
comment on column monitor.site.site is 'PanDA site, or the site of a resource description.';
comment on column monitor.site.queues is 'Number of PanDA queues of the site.';
comment on column monitor.site.online is 'Number of these queues that are online.';
comment on column monitor.site.status is 'Statuses of the queues; null = the site has no queue.';
comment on column monitor.site.waiting is 'Jobs that no JobAgent has yet.';
comment on column monitor.site.waiting_at_queues is 'Number of these jobs that a broker sent to its PanDA queues.';
comment on column monitor.site.starting is 'Jobs that a JobAgent has and that do not run yet.';
comment on column monitor.site.running is 'Jobs that run, or whose output is on its way.';
comment on column monitor.site.waiting_cores is 'Cores of the waiting jobs.';
comment on column monitor.site.starting_cores is 'Cores of the starting jobs.';
comment on column monitor.site.running_cores is 'Cores of the running jobs.';
comment on column monitor.site.failures is 'Failed ends of leased jobs in the last hour (monitor.failure).';
comment on column monitor.site.limits is 'Number of limits of the site (monitor.site_limit).';
comment on column monitor.site.limits_reached is
  'Number of limits that are reached: jobs that count at them are not matched there now.';
comment on column monitor.site.pilots_seen is
  'When a resource of the site last asked for jobs, from a sample; null = not lately. On a standby the time is that of '
  'the last taskqueue.maintain.';
comment on column monitor.site.quarantined is 'Quarantines of worker nodes, CEs, queues or the site: these get no job.';
comment on column monitor.site.quarantine is 'State of the site in monitor.quarantine: refused or named; else null.';
