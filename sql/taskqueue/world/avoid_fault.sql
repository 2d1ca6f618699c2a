-- worlds.md, Loading: the same for jobs that wait and for leases.
create or replace function taskqueue.avoid_fault(p_avoid text, p_avoid_until timestamptz) returns text
language sql stable as $$
  select case when length(p_avoid) not between 1 and 1000 or resource.unprintable(p_avoid)
              then format('avoid is %s, not 1 to 1,000 printable characters', resource.shown(to_jsonb(p_avoid)))
              when num_nulls(p_avoid, p_avoid_until) = 1
              then format('avoid is %s, and avoid_until is %s', coalesce(resource.shown(to_jsonb(p_avoid)), 'null'),
                          coalesce(p_avoid_until::text, 'null')) end
$$;

comment on function taskqueue.avoid_fault(text, timestamptz) is
  'The reason why these avoid and avoid_until of a job in a world are refused, with key and value; null if they are '
  'valid.';
