-- Each distinct need is read once. Its platforms are sw_platform itself, and all published ones that it matches as a
-- regular expression.
create or replace function brokerage.software_needs(
  p_setup text, p_task_ids bigint[], p_base_profile text, p_analysis boolean
) returns table (software_key text, problem text, sw_platform text, platform_is_pattern boolean, platforms text[],
                 base_platform text, requirement jsonb, container text, only_tags boolean, analysis boolean, tag text,
                 projects text[], versions text[], cvmfs_required boolean)
language sql stable rows 100 as $$
  with need as materialized (
    select distinct on (n.software_key) n.software_key, n.architecture, nullif(n.trans_home, '') as trans_home,
           n.trans_uses,
           nullif(n.container_name, '') as container, coalesce(n.only_tags_for_fc, false) as only_tags, n.analysis
      from (select brokerage.software_key(t) as software_key,
                   coalesce(p_analysis, t.label in ('user', 'panda'), false) as analysis,
                   t.*
              from workload.task t where t.setup = p_setup and t.task_id = any (p_task_ids)) n
  ), parsed as materialized (
    select n.*, a.architecture as parsed, brokerage.release_of(n.trans_home, n.trans_uses, n.analysis) as release
      from need n
     cross join lateral (select brokerage.read_architecture(n.architecture, p_base_profile) offset 0) a(architecture)
     where n.analysis or n.trans_home is not null or p_base_profile = 'documented' and n.container is not null
  ), pattern as materialized (
    select distinct p.parsed ->> 'sw_platform' as sw_platform, brokerage.anchored(p.parsed ->> 'sw_platform') as pattern
      from parsed p where brokerage.anchored(p.parsed ->> 'sw_platform') like '^(?:%'
  ), published as materialized (
    select distinct c.cmtconfig from resource.software s
     cross join unnest(s.cmtconfigs) c(cmtconfig)
     where s.setup = p_setup and exists (select from pattern)
    union
    select t.cmtconfig
      from (select distinct r.project, r.version from parsed p
             cross join lateral jsonb_to_record(p.release) x(projects text[], versions text[])
             cross join unnest(x.projects, x.versions) r(project, version)
             where brokerage.anchored(p.parsed ->> 'sw_platform') like '^(?:%') r
     cross join lateral (select s.cmtconfig from resource.software_tag s
                          where s.setup = p_setup and s.project = r.project and s.release = r.version offset 0) t
  ), matched as materialized (
    select p.sw_platform, p.pattern,
           array(select c.cmtconfig from published c where brokerage.fits(c.cmtconfig, p.pattern)) as platforms
      from pattern p
  )
  select p.software_key, p.parsed ->> 'problem', p.parsed ->> 'sw_platform',
         coalesce(case p_base_profile when 'documented' then m.sw_platform ~ '[][*+?(){}|^$]'
                                      else not brokerage.fits(m.sw_platform, m.pattern) end, false),
         (p.parsed ->> 'sw_platform') || coalesce(m.platforms, '{}'), p.parsed ->> 'base_platform',
         jsonb_build_object('cpu', p.parsed -> 'cpu', 'gpu', p.parsed -> 'gpu'),
         p.container, p.only_tags, p.analysis, r.tag, r.projects, r.versions, coalesce(r.cvmfs_required, false)
    from parsed p
    left join matched m on m.sw_platform = p.parsed ->> 'sw_platform'
   cross join lateral jsonb_to_record(coalesce(p.release, '{}')) r(
     tag text, projects text[], versions text[], cvmfs_required boolean)
$$;

comment on function brokerage.software_needs(text, bigint[], text, boolean) is
  'Needs of tasks for software and hardware, one row for each distinct need. Production tasks without transHome (in '
  'documented: and without container) have no need. The base profile is documented or panda2026. The last argument '
  'says whether the tasks are analysis tasks; null means by the label of each task.';
