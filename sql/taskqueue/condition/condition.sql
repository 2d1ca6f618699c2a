-- MATCHING.md, Explanations: one row per condition, computed by the functions that taskqueue.accepts consists of, so
-- that the filter and the explanation have one definition. It is a union instead of a list of values, so that a query
-- that does not read wanted and offered does not make these texts for each of hundreds of kinds of resources.
create or replace function taskqueue.condition(d taskqueue.definition, o taskqueue.offer)
returns table (condition text, wanted text, offered text, holds boolean)
language sql stable as $$
  select c.condition, coalesce(c.wanted, 'anything'), coalesce(c.offered, 'not offered, no condition'), c.holds
    from (
      select 'CPUTime', 'at least ' || d.cpu_time || ' s', o.cpu_time || ' s',
       taskqueue.accepts_cpu_time(d, o) union all
      select 'Owner', d.owner_dn || ' in ' || d.owner_group,
       case when o.owner_dn is null and o.owner_groups is null then 'generic pilot'
            else concat_ws(' in ', coalesce(o.owner_dn, 'any owner'),
                           nullif(array_to_string(o.owner_groups, ', '), '')) end,
       taskqueue.accepts_owner(d, o) union all
      select 'MaxRAM', 'at least ' || d.min_ram || ' MB', o.max_ram || ' MB', taskqueue.accepts_ram(d, o) union all
      select 'Tag', 'all of: ' || nullif(array_to_string(d.tags, ', '), ''), taskqueue.offered_text(o.tags),
       taskqueue.accepts_tag(d, o) union all
      select 'RequiredTag', 'its tags: ' || nullif(array_to_string(d.tags, ', '), ''),
       'requires ' || array_to_string(o.required_tags, ', '), taskqueue.accepts_required_tag(d, o) union all
      select 'PilotType', 'one of: ' || nullif(array_to_string(d.pilot_types, ', '), ''),
       taskqueue.offered_text(o.pilot_types), taskqueue.accepts_pilot_type(d, o) union all
      select 'JobType', 'one of: ' || nullif(array_to_string(d.job_types, ', '), ''),
       taskqueue.offered_text(o.job_types), taskqueue.accepts_job_type(d, o) union all
      select 'GridCE', 'one of: ' || nullif(array_to_string(d.grid_ces, ', '), ''),
       taskqueue.offered_text(o.grid_ces), taskqueue.accepts_grid_ce(d, o) union all
      select 'Site', nullif(concat_ws('; ', 'one of: ' || nullif(array_to_string(d.sites, ', '), ''),
                                'none of: ' || nullif(array_to_string(d.banned_sites, ', '), '')), ''),
       taskqueue.offered_text(o.sites), taskqueue.accepts_site(d, o) union all
      select 'Platform', 'one of: ' || nullif(array_to_string(d.platforms, ', '), ''),
       taskqueue.offered_text(o.platforms), taskqueue.accepts_platform(d, o) union all
      select 'BannedSite', 'its sites: ' || nullif(array_to_string(d.sites, ', '), ''),
       'bans ' || array_to_string(o.banned_sites, ', '), taskqueue.accepts_banned_site(d, o) union all
      select 'BannedGridCE', 'its CEs: ' || nullif(array_to_string(d.grid_ces, ', '), ''),
       'bans ' || array_to_string(o.banned_grid_ces, ', '), taskqueue.accepts_banned_grid_ce(d, o) union all
      select 'BannedPlatform', 'its platforms: ' || nullif(array_to_string(d.platforms, ', '), ''),
       'bans ' || array_to_string(o.banned_platforms, ', '), taskqueue.accepts_banned_platform(d, o) union all
      select 'BannedJobType', 'its job types: ' || nullif(array_to_string(d.job_types, ', '), ''),
       'bans ' || array_to_string(o.banned_job_types, ', '), taskqueue.accepts_banned_job_type(d, o) union all
      select 'BannedTag', 'its tags: ' || nullif(array_to_string(d.tags, ', '), ''),
       'bans ' || array_to_string(o.banned_tags, ', '), taskqueue.accepts_banned_tag(d, o) union all
      select 'Clauses', 'all of: ' || taskqueue.clauses_text(d.requirements -> 'Clauses'),
       taskqueue.clauses_offered(d, o),
       coalesce(taskqueue.accepts_clauses(d, o), taskqueue.meets_clauses(d, o)) union all
      select 'Limits', 'a free slot at the site',
       case when not o.limited or o.limited is null then 'no limits' else coalesce('limits reached: ' || (
          select string_agg(format('%s %s of %s %s at %s', l.kind, coalesce(l.ceiling::text, l.delay::text),
                                   l.attribute, l.value, concat_ws('/', l.site, l.grid_ce)), '; ' order by l.limit_id)
            from taskqueue.site_limit l where l.setup = d.setup and l.limit_id = any (o.reached)),
                                                                                   'limits not reached') end,
       taskqueue.accepts_limits(d, o)
    ) c (condition, wanted, offered, holds)
$$;

comment on function taskqueue.condition(taskqueue.definition, taskqueue.offer) is
  'Each condition for a definition and an offer: the value that the TaskQueue wants, the value that the resource '
  'offers, and whether the condition holds. All conditions hold exactly when taskqueue.accepts is true.';
