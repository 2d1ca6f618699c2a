create or replace function brokerage.release_text(
  p_tag text, p_projects text[], p_versions text[], p_platform text, p_base_platform text, p_cvmfs text[],
  p_containers text[]
) returns text
language sql stable parallel safe as $$
  select concat_ws(', ',
    case when p_cvmfs && array['any', p_tag]
         then format('%s is not among the cmtconfigs and the containers have neither any nor /cvmfs',
                     coalesce(nullif(p_platform, ''), 'no platform'))
         else format('cvmfs %s is not among %s', p_tag,
                     coalesce(nullif(array_to_string(p_cvmfs, ', '), ''), 'none')) end,
    case when cardinality(p_projects) = 0 then null
         when p_base_platform is not null and not coalesce('any' = any (p_containers), false)
         then format('base platform %s needs any among the containers', p_base_platform)
         else (select format('no tag %s for %s', string_agg(concat_ws(' ', r.project, r.version), ' or '),
                             coalesce(nullif(p_platform, ''), 'no platform'))
                 from unnest(p_projects, p_versions) r(project, version)) end)
$$;

comment on function brokerage.release_text(text, text[], text[], text, text, text[], text[]) is
  'Text of a reason: a queue does not have a release; with cvmfs tag, projects, versions, platform and base platform '
  'wanted, cvmfs and containers published.';
