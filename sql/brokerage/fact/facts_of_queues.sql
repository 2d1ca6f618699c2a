-- The facts are made once per run: limits with their defaults, parsed texts, counts of all shares (conventions.md,
-- Missing values; conventions.md, Job counts; conventions.md, Nucleus queues). Columns have the order of the type;
-- tests/core/brokerage/test_facts.py compares the names. Long because a queue has many facts.
create or replace function brokerage.facts_of_queues(p_setup text, p_analysis boolean default false)
returns setof brokerage.queue_facts
language sql stable as $$
  with storage as materialized (
    select f.* from brokerage.storages_of_queues(p_setup, p_analysis) f
  ), count_of_all as materialized (  -- workload.job_count without shares
    select s.queue, coalesce(sum(s.njobs) filter (where s.status = 'running'), 0) as running,
           coalesce(sum(s.njobs) filter (where s.status = 'activated'), 0) as activated,
           coalesce(sum(s.njobs) filter (where s.status = 'starting'), 0) as starting,
           coalesce(sum(s.njobs) filter (where s.status = 'transferring'), 0) as transferring,
           sum(s.diskio * s.njobs) filter (where s.status = 'running')
           / nullif(sum(s.njobs) filter (where s.status = 'running' and s.diskio is not null), 0) as diskio
      from workload.job_statistic s
     where s.setup = p_setup
     group by s.queue
  ), transferring as materialized (
    select s.queue, sum(s.njobs) as jobs
      from workload.job_statistic s
      join brokerage.unwritable_nucleus u on u.setup = s.setup and u.nucleus = s.nucleus
     where s.setup = p_setup and s.status = 'transferring'
     group by s.queue
  ), core as materialized (  -- of the jobs of this database; loaded ones are counted in resource.queue_activity
    select j.queue, sum(j.cores) as cores
      from workload.job_by_queue j
     where j.setup = p_setup and j.status in ('running', 'starting')
       and coalesce(j.label in ('user', 'panda'), false) = p_analysis
     group by j.queue
  ), live as materialized (
    select l.queue, sum(l.jobs) as jobs from brokerage.live_count l where l.setup = p_setup group by l.queue
  ), pilot as materialized (
    select p.queue, sum(p.requests) as requests from resource.pilot_count p where p.setup = p_setup group by p.queue
  ), start as materialized (
    select s.queue, s.last_at from workload.last_start s where s.setup = p_setup
  ), slot as materialized (
    select distinct s.queue from resource.slot s where s.setup = p_setup
  )
  select q.queue as queue,
         q.unified_name as unified_name,
         q.child_type as child_type,
         q.panda_site as panda_site,
         q.role is not distinct from 'nucleus' as is_nucleus,
         q.type as type,
         brokerage.runs_production(q.type, q.attributes) as is_production,
         btrim(split_part(q.cloud, ',', 1)) as cloud,
         q.status as status,
         coalesce(q.storage_site, s.output_site) as storage_site,
         q.corecount as corecount,
         q.unified_corecount as unified_corecount,
         coalesce(nullif(q.corepower, 0), 10) as corepower,
         nullif(q.maxrss, 0) as maxrss,
         nullif(q.minrss, 0) as minrss,
         nullif(q.maxtime, 0) as maxtime,
         nullif(q.mintime, 0) as mintime,
         nullif(q.maxwdir, 0) as maxwdir,
         coalesce(q.maxinputsize = -1, false) as reads_always_directly,
         coalesce(q.direct_access_lan, false) as direct_access_lan,
         q.pledgedcpu as pledgedcpu,
         coalesce(nullif(q.transferringlimit, 0), 2000) as transferringlimit,
         nullif(lower(btrim(split_part(q.wnconnectivity, '#', 1))), '') as connectivity,
         nullif(btrim(split_part(q.wnconnectivity, '#', 2)), '') as ip_stack,
         coalesce(q.jobseed, 'std') as jobseed,
         case when q.maxdiskio > 0 then q.maxdiskio end as maxdiskio,
         coalesce(a.average_diskio, c.diskio) as average_diskio,
         resource.number_or_null(q.attributes, 'max_io_intensity') as max_io_intensity,
         brokerage.bare_nucleus(n.bare_nucleus, q.attributes) as bare_nucleus,
         q.attributes ? 'useJumboJobs' as uses_jumbo,
         resource.number_or_null(q.attributes, 'minEventsForJumbo') as min_events_for_jumbo,
         q.attributes ? 'use_only_local_data' as uses_only_local_data,
         nullif(least(greatest(coalesce(resource.number_or_null(q.attributes, 'jobChunkSize'), 0), 0), 1000000),
                0)::int as job_chunk_size,
         coalesce('ANY' = any (q.releases), false) as releases_any,
         coalesce('AUTO' = any (q.releases), false) as releases_auto,
         w.queue is not null as publishes_software,
         coalesce(p.requests, 0)::bigint as pilots,
         b.last_at as laststart,
         case when brokerage.is_current(a.workers_at, (select resource.clock(p_setup)), interval '1 hour')
              then coalesce(a.workers_running, 0) + coalesce(a.workers_submitted, 0) else 0 end as workers,
         coalesce(a.ups, false) as ups,
         l.queue is not null as has_slots,
         coalesce(a.core_running, 0) + coalesce(a.core_starting, 0) + coalesce(u.cores, 0) as core_running,
         coalesce(c.running, 0)::bigint as running_all,
         coalesce(c.activated, 0)::bigint as activated_all,
         coalesce(c.starting, 0)::bigint as starting_all,
         coalesce(c.transferring, 0)::bigint as transferring_all,
         coalesce(t.jobs, 0)::bigint as transferring_to_unwritable,
         coalesce(s.has_output, false) as has_output_storage,
         coalesce(s.space_free, 0) as space_free,
         coalesce(s.space_usable, 0) as space_usable,
         coalesce(s.inputs, 0)::int as input_storages,
         coalesce(s.inputs_readable, 0)::int as inputs_readable,
         coalesce(s.outputs, 0)::int as output_storages,
         coalesce(s.outputs_writable, 0)::int as outputs_writable,
         coalesce(s.datadisk_read_lan, false) as datadisk_read_lan,
         coalesce(s.datadisk_write_lan, false) as datadisk_write_lan,
         coalesce(s.datadisk_write_wan, false) as datadisk_write_wan,
         coalesce(s.datadisk_read_wan, false) as datadisk_read_wan,
         case when k.queue is not null
              then resource.clock(p_setup) - coalesce(k.locked_at, resource.clock(p_setup)) end as lock_age,
         coalesce(v.jobs, 0)::bigint as live_jobs,
         q.attributes as attributes,
         null::float8 as queued_into,
         null::float8 as remaining_work,
         case when brokerage.is_current(a.site_classified, (select resource.clock(p_setup)), interval '1 hour')
              then a.site_class::int end as site_class,
         coalesce(s.has_vp_input, false) as has_vp_input,
         s.output_storage as output_storage,
         case when s.input_storage is distinct from s.output_storage
              then s.input_space_usable end as input_space_usable,
         coalesce(s.inputs_writable_wan, 0)::int as inputs_writable_wan,
         coalesce(s.outputs_readable_wan, 0)::int as outputs_readable_wan
    from resource.candidate_queue q
    left join resource.queue_activity a on a.setup = q.setup and a.queue = q.unified_name
    left join resource.nucleus n on n.setup = q.setup and n.nucleus = q.panda_site
    left join storage s on s.queue = q.unified_name
    left join count_of_all c on c.queue = q.unified_name
    left join transferring t on t.queue = q.unified_name
    left join pilot p on p.queue = q.unified_name
    left join start b on b.queue = q.unified_name
    left join core u on u.queue = q.unified_name
    left join live v on v.queue = q.unified_name
    left join slot l on l.queue = q.unified_name
    left join resource.software w on w.setup = q.setup and w.queue = q.unified_name
    left join resource.queue_lock k on k.setup = q.setup and k.queue = q.unified_name
   where q.setup = p_setup
$$;

comment on function brokerage.facts_of_queues(text, boolean) is
  'The queues of a setup as rules see them, with pseudo-queues in place of unified ones; one row per candidate. '
  'p_analysis: with the storages that analysis uses.';
