create or replace function history.least_width(p_setup text, p_since timestamptz) returns interval
language sql stable as $$
  with kept as (
    select s.step, f.at as first_at
      from unnest('{1 day,1 hour,5 minutes,1 minute}'::interval[]) s(step)
     cross join lateral (select i.at from history.sample i
                          where i.setup = p_setup and i.step = s.step order by i.at limit 1) f
  )
  select coalesce(
    (select k.step from kept k
      where k.first_at <= p_since or not exists (select from kept l where l.step > k.step and l.first_at < k.first_at)
      order by k.step limit 1),
    interval '1 minute')
$$;

comment on function history.least_width(text, timestamptz) is
  'The shortest step whose samples are kept since a given time, or are kept for as long as those of any longer step.';
