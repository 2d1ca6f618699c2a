create or replace function history.width_of(p_span interval, p_points int) returns interval
language sql immutable as $$
  select coalesce(
    (select w from unnest('{1 minute,5 minutes,15 minutes,1 hour,3 hours,6 hours,1 day}'::interval[]) w
      where w * p_points >= p_span order by w limit 1),
    ceil(extract(epoch from p_span) / 86400 / p_points) * interval '1 day')
$$;

comment on function history.width_of(interval, int) is
  'The shortest usual width of spans with which p_points spans cover p_span: 1, 5 or 15 minutes, 1, 3 or 6 hours, or '
  'days.';
