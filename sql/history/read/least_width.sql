create or replace function history.least_width(p_setup text, p_since timestamptz) returns interval
language sql stable as $$
  with kept as (
    select s.step, min(s.at) as first_at
      from history.sample s where s.setup = p_setup group by s.step
  )
  select coalesce(
    (select k.step from kept k
      where k.first_at <= p_since or not exists (select from kept l where l.step > k.step and l.first_at < k.first_at)
      order by k.step limit 1),
    interval '1 minute')
$$;

comment on function history.least_width(text, timestamptz) is
  'The shortest step of which samples are kept since a time, or for as long as those of any longer step.';
