-- The value of a label is the mean of the minutes that were sampled; a series that did not exist in a minute counts as
-- zero.
create or replace function alert.measured(
  p_setup text, p_at timestamptz, p_figure text, p_labels jsonb, p_by text, p_over interval
) returns table (label text, value float8)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_places int[];
  v_labels text[];
  v_max boolean := (select f.fold = 'max' from history.figure f where f.figure = p_figure);
begin
  select array_agg(s.place order by s.place), array_agg(coalesce(s.labels ->> p_by, '') order by s.place)
    into v_places, v_labels
    from history.series s
   where s.setup = p_setup and s.figure = p_figure and s.labels @> p_labels
     and s.last_at >= p_at - interval '2 days';
  if v_places is null then
    return query select '', 0::float8 where p_by is null;
    return;
  end if;
  return query
    with minute as materialized (
      select s.at, s.mean || '{}'::real[] as mean
        from history.sample s
       where s.setup = p_setup and s.step = '1 minute' and s.at > p_at - p_over and s.at <= p_at
    ), value as (
      select m.at, w.label,
             case when v_max then max(coalesce(m.mean[w.place], 0))
                  else sum(coalesce(m.mean[w.place], 0)::float8) end as value
        from minute m
       cross join unnest(v_places, v_labels) w (place, label)
       group by m.at, w.label
    )
    select v.label, avg(v.value) from value v group by v.label;
end $$;

comment on function alert.measured(text, timestamptz, text, jsonb, text, interval) is
  'The mean of a figure over the minutes up to a given one, for each value of a label, or, if p_by is null, of all '
  'series together. Series without a value for two days are left out.';
