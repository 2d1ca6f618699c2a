-- See facts-and-formulas.md, ucore-expansion. Memory limits are per slot, and grow with the cores of the pseudo-queue.
-- The view is not materialized, so a query of one setup reads no other setup.
create or replace view resource.candidate_queue as
with queue as not materialized (
  select q.setup, q.queue, q.panda_site, q.role, q.type, q.cloud, q.status, q.capability, q.corecount, q.corepower,
         q.maxtime, q.mintime, q.maxinputsize,
         q.releases, q.pledgedcpu, q.transferringlimit, q.fairsharepolicy, q.wnconnectivity, q.jobseed, q.maxdiskio,
         q.direct_access_lan, q.storage_site, a.attributes,
         q.maxrss * c.times as maxrss, q.minrss * c.times as minrss, q.maxwdir * c.times as maxwdir
    from resource.queue q
   cross join lateral (select q.cric || resource.catchall(q.catchall) || q.params offset 0) a(attributes)
   cross join lateral (
     select case when a.attributes ? 'per_core_attr' then greatest(q.corecount, 1) else 1 end) c(times)
)
select q.setup, q.queue, q.queue as unified_name, null::text as child_type, q.corecount,
       q.corecount as unified_corecount, q.maxrss, q.minrss,
       q.panda_site, q.role, q.type, q.cloud, q.status, q.corepower, q.maxtime, q.mintime, q.maxwdir, q.maxinputsize,
       q.releases, q.pledgedcpu,
       q.transferringlimit, q.fairsharepolicy, q.wnconnectivity, q.jobseed, q.maxdiskio, q.direct_access_lan,
       q.storage_site, q.attributes
  from queue q
 where q.capability is distinct from 'ucore'
union all
select q.setup, q.queue || '/' || r.name, q.queue, r.name, k.cores, q.corecount,
       case when coalesce(q.maxrss, 0) = 0 then c.cores * r.maxrampercore
            when r.maxrampercore is null then least(q.maxrss * c.cores / p.cores, q.maxrss)
            else least(c.cores * r.maxrampercore, q.maxrss * c.cores / p.cores) end,
       case when r.minrampercore is null then greatest(coalesce(q.minrss, 0) * c.cores / p.cores, coalesce(q.minrss, 0))
            else greatest(c.cores * r.minrampercore - c.cores + 1, coalesce(q.minrss, 0) * c.cores / p.cores) end,
       q.panda_site, q.role, q.type, q.cloud, q.status, q.corepower, q.maxtime, q.mintime, q.maxwdir, q.maxinputsize,
       q.releases, q.pledgedcpu,
       q.transferringlimit, q.fairsharepolicy, q.wnconnectivity, q.jobseed, q.maxdiskio, q.direct_access_lan,
       q.storage_site, q.attributes
  from queue q
 cross join lateral (select greatest(q.corecount, 1)) p(cores)
  join resource.resource_type_in_force r on r.setup = q.setup
 cross join lateral (select greatest(least(p.cores, r.maxcore), r.mincore)) k(cores)
 cross join lateral (select k.cores::float8) c(cores)
 where q.capability = 'ucore' and p.cores >= coalesce(r.mincore, 0);

comment on view resource.candidate_queue is
  'Queues as brokerage lists them: a pseudo-queue for each resource type replaces a unified queue (capability ucore). '
  'Limits of memory and scratch hold for a slot: limits per core (per_core_attr) are multiplied by its cores.';
comment on column resource.candidate_queue.queue is 'Name of the queue, or queue/resource type.';
comment on column resource.candidate_queue.unified_name is 'Name of the PanDA queue.';
comment on column resource.candidate_queue.child_type is 'Resource type of a pseudo-queue; null = not a pseudo-queue.';
comment on column resource.candidate_queue.corecount is 'Cores of a slot of the (pseudo-)queue.';
comment on column resource.candidate_queue.unified_corecount is 'Cores of a slot of the PanDA queue.';
comment on column resource.candidate_queue.maxrss is 'Maximum memory of a slot (MB); null or 0 = no limit.';
comment on column resource.candidate_queue.maxwdir is 'Maximum scratch space of a slot of the PanDA queue (MiB).';
comment on column resource.candidate_queue.attributes is
  'One object of params, catchall and the other fields of CRIC, in this order of precedence.';
