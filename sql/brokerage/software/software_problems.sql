-- Seed 000, Release/cache Availability Check. Each distinct need is compared with each queue once. ANY, and queues that publish nothing, are
-- the rule's own matter in doc; in panda2026 they are part of the verdict.
create or replace function brokerage.software_problems(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean default null)
returns table (software_key text, queue text, problem text)
language sql stable rows 5000
as $$
  with need as materialized (
    select n.*, row_number() over () as number, dense_rank() over (order by n.requirement) as hardware
      from brokerage.software_needs(p_setup, p_task_ids, p_flavour, p_analysis) n
  ), site as materialized (
    select s.*, row_number() over () as number from brokerage.software_sites(p_setup) s
     where p_flavour <> 'doc' or 'AUTO' = any (s.releases) and s.is_published
  ), hardware as materialized (
    select n.hardware, s.number as site, v.problem
      from brokerage.hardware_verdicts(p_setup, (select array_agg(distinct n.requirement) from need n), p_flavour) v
      join (select distinct n.hardware, n.requirement from need n) n on n.requirement = v.requirement
      join site s on s.queue = v.queue
  ), container as materialized (
    select n.number as need, s.number as site
      from brokerage.container_hits(p_setup, (select array_agg(n.container order by n.number) from need n),
                                    (select array_agg(n.only_tags order by n.number) from need n), p_flavour) h
      join need n on n.container = h.container and n.only_tags = h.only_tags
      join site s on s.queue = h.queue
  ), release as materialized (
    select n.number as need, s.number as site
      from need n
     cross join lateral brokerage.release_hits(p_setup, n.projects, n.versions, case p_flavour when 'doc' then n.platforms else array[n.sw_platform] end) h(queue)
      join site s on s.queue = h.queue
     where n.container is null
  ), verdict as materialized (
    select n.software_key, s.queue,
           case when n.problem is not null then n.problem
                when p_flavour <> 'doc' and (s.releases <> '{AUTO}' or not s.is_published)
                  then brokerage.unpublished_problem(s.releases, n.requirement, n.container, n.only_tags and not n.analysis)
                when h.problem is not null then h.problem
                when n.container is not null and not (s.takes_any_container and not n.only_tags or c.need is not null)
                  then brokerage.container_text(n.container, n.only_tags, s.containers)
                when n.container is null and n.tag is not null and p_flavour = 'doc'
                     and not (s.cvmfs && array['any', n.tag] and (s.takes_any_container or s.cmtconfigs && n.platforms)
                              or ('any' = any (s.containers) or n.base_platform is null) and r.need is not null)
                  then brokerage.release_text(n.tag, n.projects, n.versions, n.sw_platform, n.base_platform, s.cvmfs, s.containers)
                when n.container is null and n.tag is not null and p_flavour <> 'doc'
                     and not case when s.cvmfs && array['any', n.tag]
                                    then s.takes_any_container or (n.analysis or n.base_platform is null) and coalesce(n.sw_platform = any (s.cmtconfigs), false)
                                  else not n.cvmfs_required and (n.analysis or n.base_platform is null or 'any' = any (s.containers)) and r.need is not null end
                  then brokerage.release_text(n.tag, n.projects, n.versions, n.sw_platform, case when not n.analysis then n.base_platform end, s.cvmfs, s.containers)
                when n.platform_is_pattern and not s.cmtconfigs && n.platforms
                  then format('-regexpcmtconfig: %s matches none of the %s cmtconfigs', n.sw_platform, cardinality(s.cmtconfigs))
           end as problem
      from need n
     cross join site s
      left join hardware h on h.hardware = n.hardware and h.site = s.number
      left join container c on c.need = n.number and c.site = s.number
      left join release r on r.need = n.number and r.site = s.number
  )
  select v.software_key, v.queue, v.problem from verdict v where v.problem is not null
$$;

comment on function brokerage.software_problems(text, bigint[], text, boolean) is
'Why the software or hardware of a queue does not do, for each distinct need of the tasks (brokerage.software_key) and queue where it does not.'
' doc: only queues with AUTO that publish are looked at; panda2026: all queues. A reason may begin with a criteria tag.'
' Analysis or production; null = as the label of each task says (user and panda are analysis).';
