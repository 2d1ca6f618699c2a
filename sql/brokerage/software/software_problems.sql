-- software-check.md, software: each distinct need is compared with each queue once. In documented, the rule itself
-- handles ANY and queues that publish nothing; in panda2026 they are part of the verdict. Values of a need are looked
-- up in objects by queue. Joins with a row for each need and queue became nested loops of 16 million rows if the tables
-- had no statistics yet (6.5 s; now 0.3 s).
create or replace function brokerage.software_problems(
  p_setup text, p_task_ids bigint[], p_base_profile text, p_analysis boolean default null
) returns table (software_key text, queue text, problem text)
language sql stable rows 5000 as $$
  with need as materialized (
    select n.* from brokerage.software_needs(p_setup, p_task_ids, p_base_profile, p_analysis) n
  ), hardware as materialized (
    select v.requirement, jsonb_object_agg(v.queue, v.problem) as problems
      from brokerage.hardware_verdicts(p_setup, (select array_agg(n.requirement) from need n),
                                       p_base_profile) v
     group by v.requirement
  ), container as materialized (
    select h.container, h.only_tags, jsonb_object_agg(h.queue, true) as queues
      from brokerage.container_hits(p_setup, (select array_agg(n.container order by n.software_key) from need n),
                                    (select array_agg(n.only_tags order by n.software_key) from need n),
                                    p_base_profile) h
     group by h.container, h.only_tags
  ), asked as materialized (
    select n.*, h.problems, coalesce(c.queues, '{}') as contained, r.queues as released
      from need n
      left join hardware h on h.requirement = n.requirement
      left join container c on c.container = n.container and c.only_tags = n.only_tags
     cross join lateral (
           select coalesce(jsonb_object_agg(h.queue, true), '{}')
             from brokerage.release_hits(
               p_setup, n.projects, n.versions,
               case p_base_profile when 'documented' then n.platforms else array[n.sw_platform] end) h(queue)
            where n.container is null) r(queues)
  ), verdict as materialized (
    select n.software_key, s.queue,
           case when n.problem is not null then n.problem
                when p_base_profile <> 'documented' and (s.releases <> '{AUTO}' or not s.is_published)
                  then brokerage.unpublished_problem(s.releases, n.requirement, n.container,
                                                     n.only_tags and not n.analysis)
                when n.problems ? s.queue then n.problems ->> s.queue
                when n.container is not null
                     and not (s.takes_any_container and not n.only_tags or n.contained ? s.queue)
                  then '-cache: ' || brokerage.container_text(n.container, n.only_tags, s.containers)
                when n.container is null and n.tag is not null and p_base_profile = 'documented'
                     and not (s.cvmfs && array['any', n.tag] and (s.takes_any_container or s.cmtconfigs && n.platforms)
                              or ('any' = any (s.containers) or n.base_platform is null) and n.released ? s.queue)
                  then '-cache: ' || brokerage.release_text(n.tag, n.projects, n.versions, n.sw_platform,
                                                            n.base_platform, s.cvmfs, s.containers)
                when n.container is null and n.tag is not null and p_base_profile <> 'documented'
                     and not case when s.cvmfs && array['any', n.tag]
                                    then s.takes_any_container
                                         or (n.analysis or n.base_platform is null)
                                            and coalesce(n.sw_platform = any (s.cmtconfigs), false)
                                  else not n.cvmfs_required
                                       and (n.analysis or n.base_platform is null or 'any' = any (s.containers))
                                       and n.released ? s.queue end
                  then '-cache: ' || brokerage.release_text(n.tag, n.projects, n.versions, n.sw_platform,
                                                            case when not n.analysis then n.base_platform end,
                                                            s.cvmfs, s.containers)
                when n.platform_is_pattern and not s.cmtconfigs && n.platforms
                  then format('-regexpcmtconfig: %s matches none of the %s cmtconfigs', n.sw_platform,
                              cardinality(s.cmtconfigs))
           end as problem
      from asked n
     cross join brokerage.software_sites(p_setup) s
     where p_base_profile <> 'documented' or 'AUTO' = any (s.releases) and s.is_published
  )
  select v.software_key, v.queue, v.problem from verdict v where v.problem is not null
$$;

comment on function brokerage.software_problems(text, bigint[], text, boolean) is
  'The reason why the software or hardware of a queue does not meet a need, for each distinct need of the tasks '
  '(brokerage.software_key) and queue that fails. documented compares only queues with AUTO that publish software; '
  'panda2026 compares all queues. A reason about container, release or platform begins with a criteria tag. A reason '
  'about hardware has no tag, nor has the reason that a queue publishes nothing. The last argument says whether the '
  'tasks are analysis tasks; null means by the label of each task (user and panda are analysis).';
