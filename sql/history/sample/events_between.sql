-- A match is in the lease until the lease ends, and in the history of TaskQueues afterwards. Rows are counted by
-- definition first, so that the group of each definition is looked up once.
create or replace function history.events_between(p_setup text, p_from timestamptz, p_until timestamptz)
returns setof history.value
language sql stable as $$
  with counted as materialized (
    select h.event, coalesce(h.site, 'none') as site, h.owner_group, h.definition_id, h.error_class,
           count(*)::float8 as jobs
      from taskqueue.history h
     where h.setup = p_setup and h.at >= p_from and h.at < p_until and h.attempt > 0
       and h.event in ('matched', 'finished', 'failed', 'cancelled', 'closed', 'released', 'expired')
     group by 1, 2, 3, 4, 5
  ), event as materialized (
    select c.event, c.site,
           coalesce(c.owner_group, (select k.owner_group from taskqueue.kept_definition k
                                     where k.setup = p_setup and k.definition_id = c.definition_id),
                    'unknown') as owner_group, c.error_class, c.jobs
      from counted c
     union all
    select 'matched', coalesce(l.site, 'none'), coalesce(d.owner_group, 'unknown'), null, count(*)
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
   union all
  select 'failures', jsonb_build_object('site', e.site, 'class', e.error_class), sum(e.jobs)
    from event e where e.error_class is not null group by e.site, e.error_class
$$;

comment on function history.events_between(text, timestamptz, timestamptz) is
  'Matches in a span of time, ends of matched jobs by owner group and by site, and failures by class: figures matches, '
  'matches_at_site, ends, ends_at_site and failures.';
