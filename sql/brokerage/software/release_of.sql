-- software-check.md, Release: an analysis transHome without a second field is read as in production.
create or replace function brokerage.release_of(p_trans_home text, p_trans_uses text, p_analysis boolean) returns jsonb
language sql immutable parallel safe as $$
  select case
    when h.home is null then null
    when p_analysis and h.rest <> '' and not h.three and h.home <> 'AnalysisTransforms' and h.home !~ 'rel_\d+(\n|$)'
         and h.rest !~ '\d{4}-\d{2}-\d{2}T\d{4}$' and h.rest like '%-%'
      then jsonb_build_object('tag', 'atlas', 'projects', array[split_part(h.rest, '-', 1)], 'versions',
                              array[split_part(h.rest, '-', 2)])
    when p_analysis and (h.rest = '' and p_trans_uses <> '' or h.three and coalesce(p_trans_uses, '') !~ '-\d+\.\d+$')
      then jsonb_build_object('tag', 'atlas',
             'projects',
                              case when p_trans_uses <> '' then array['AtlasOffline'] else '{}' end
                              || case when h.rest ~ '^[^-]*-[^-]*$' then array[split_part(h.rest, '-', 1)]
                                      else '{}' end,
             'versions', case when p_trans_uses <> '' then array[regexp_replace(p_trans_uses, '^.*-', '')] else '{}' end
                         || case when h.rest ~ '^[^-]*-[^-]*$' then array[split_part(h.rest, '-', 2)] else '{}' end)
    when p_analysis
         and (h.three or h.rest = '' or h.rest like '%-%' or h.home ~ 'rel_\d+(\n|$)'
              or h.rest ~ '\d{4}-\d{2}-\d{2}T\d{4}$')
      then '{"tag": "nightlies", "projects": [], "versions": [], "cvmfs_required": true}'
    when h.home ~ '-\d+\.\d+\.\d+$' or h.home !~ 'rel_\d+(\n|$)' and h.home !~ '\d{4}-\d{2}-\d{2}T\d{4}$'
      then jsonb_build_object('tag', 'atlas', 'projects', array[split_part(h.home, '-', 1)], 'versions',
                              array[nullif(split_part(h.home, '-', 2), '')])
    else '{"tag": "nightlies", "projects": [], "versions": []}' end
    from (select nullif(p_trans_home, ''), translate(regexp_replace(p_trans_home, '^[^-]*-*', ''), '_', '-'),
                 translate(regexp_replace(p_trans_home, '^[^-]*-*', ''), '_',
                           '-') ~ '-\d+\.\d+\.\d+$') h(home, rest, three)
$$;

comment on function brokerage.release_of(text, text, boolean) is
  'The release in transHome and transUses: tag (atlas or nightlies), projects and versions (either pair will do), '
  'cvmfs_required; null = no release. Analysis or production.';
