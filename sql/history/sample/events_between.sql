-- A match is in the lease until the lease ends, and in the history of TaskQueues afterwards. The definition of a
-- TaskQueue is deleted after its last job; its group is then unknown.
create or replace function history.events_between(p_setup text, p_from timestamptz, p_until timestamptz)
returns setof history.value
language sql stable as $$
  with event as materialized (
    select h.event, coalesce(h.site, 'none') as site, coalesce(h.owner_group, d.owner_group, 'unknown') as owner_group,
           count(*)::float8 as jobs
      from taskqueue.history h
      left join taskqueue.definition d on d.setup = h.setup and d.definition_id = h.definition_id
     where h.setup = p_setup and h.at >= p_from and h.at < p_until and h.attempt > 0
       and h.event in ('matched', 'finished', 'failed', 'cancelled', 'closed', 'released', 'expired')
     group by 1, 2, 3
     union all
    select 'matched', coalesce(l.site, 'none'), coalesce(d.owner_group, 'unknown'), count(*)
      from taskqueue.lease l
      left join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
     where l.setup = p_setup and l.matched_at >= p_from and l.matched_at < p_until
     group by 1, 2, 3
  )
  select 'matches', jsonb_build_object('owner_group', e.owner_group), sum(e.jobs)
    from event e where e.event = 'matched' group by e.owner_group
   union all
  select 'matches_at_site', jsonb_build_object('site', e.site), sum(e.jobs)
    from event e where e.event = 'matched' group by e.site
   union all
  select 'ends', jsonb_build_object('owner_group', e.owner_group, 'outcome', e.event), sum(e.jobs)
    from event e where e.event <> 'matched' group by e.owner_group, e.event
   union all
  select 'ends_at_site', jsonb_build_object('site', e.site, 'outcome', e.event), sum(e.jobs)
    from event e where e.event <> 'matched' group by e.site, e.event
$$;

comment on function history.events_between(text, timestamptz, timestamptz) is
  'Matches in a span of time, and ends of matched jobs, by owner group and by site: figures matches, matches_at_site, '
  'ends and ends_at_site.';
