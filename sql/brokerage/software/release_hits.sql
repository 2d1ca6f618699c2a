-- A release has few of the thousands of tags, so its tags are looked up by index, one pair of project and version at a
-- time.
create or replace function brokerage.release_hits(
  p_setup text, p_projects text[], p_versions text[], p_platforms text[]
) returns setof text
language sql stable rows 300 as $$
  select distinct t.queue
    from unnest(p_projects, p_versions) r(project, version)
   cross join lateral (select s.queue, s.cmtconfig from resource.software_tag s
                        where s.setup = p_setup and s.project = r.project and s.release = r.version offset 0) t
   where t.cmtconfig = any (p_platforms)
$$;

comment on function brokerage.release_hits(text, text[], text[], text[]) is
  'Queues that have a tag of one of the releases (projects and versions pairwise) for one of the platforms.';
