-- software-check.md, Release: an analysis transHome without a second field is read as in production.
create or replace function brokerage.release_of(p_trans_home text, p_trans_uses text, p_analysis boolean) returns jsonb
language sql immutable parallel safe as $$
  select case
    when p_trans_home is null then null
    when p_analysis and h.rest like '%-%' and not h.three
         and h.home !~ E'rel_[0-9]+(\n|$)' and h.rest !~ '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{4}$'
      then jsonb_build_object('tag', 'atlas', 'projects', array[split_part(h.rest, '-', 1)], 'versions',
                              array[split_part(h.rest, '-', 2)])
    when p_analysis and (h.rest = '' and p_trans_uses <> ''
                         or h.three and coalesce(p_trans_uses, '') !~ '-[0-9]+[.][0-9]+$')
      then jsonb_build_object('tag', 'atlas',
             'projects',
                              case when p_trans_uses <> '' then array['AtlasOffline'] else '{}' end
                              || case when h.rest ~ '^[^-]*-[^-]*$' then array[split_part(h.rest, '-', 1)]
                                      else '{}' end,
             'versions', case when p_trans_uses <> '' then array[regexp_replace(p_trans_uses, '^.*-', '')] else '{}' end
                         || case when h.rest ~ '^[^-]*-[^-]*$' then array[split_part(h.rest, '-', 2)] else '{}' end)
    when p_analysis and (h.rest = '' or h.rest like '%-%')
      then '{"tag": "nightlies", "projects": [], "versions": [], "cvmfs_required": true}'
    when h.home ~ '-[0-9]+[.][0-9]+[.][0-9]+$' or h.home !~ E'rel_[0-9]+(\n|$)'
         and h.home !~ '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{4}$'
      then jsonb_build_object('tag', 'atlas', 'projects', array[split_part(h.home, '-', 1)], 'versions',
                              array[nullif(split_part(h.home, '-', 2), '')])
    else '{"tag": "nightlies", "projects": [], "versions": []}' end
    from (select p_trans_home, translate(regexp_replace(p_trans_home, '^[^-]*-*', ''), '_', '-'),
                 translate(regexp_replace(p_trans_home, '^[^-]*-*', ''), '_',
                           '-') ~ '-[0-9]+[.][0-9]+[.][0-9]+$') h(home, rest, three)
$$;

comment on function brokerage.release_of(text, text, boolean) is
  'The release in transHome and transUses: tag (atlas or nightlies), projects and versions (one matching pair '
  'suffices), cvmfs_required; null if there is no release. The last argument says whether it is an analysis task.';
