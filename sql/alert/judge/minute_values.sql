-- A series that did not exist in a minute counts as zero.
create or replace function alert.minute_values(
  p_setup text, p_at timestamptz, p_figure text, p_labels jsonb, p_by text, p_over interval, p_only text[] default null
) returns table (label text, at timestamptz, value float8)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_places int[];
  v_labels text[];
  v_max boolean := (select f.fold = 'max' from history.figure f where f.figure = p_figure);
begin
  select array_agg(s.place order by s.place), array_agg(s.label order by s.place)
    into v_places, v_labels
    from (select i.place, coalesce(i.labels ->> p_by, '') as label
            from history.series i
           where i.setup = p_setup and i.figure = p_figure and i.labels @> p_labels
             and i.last_at >= p_at - interval '2 days') s
   where p_only is null or s.label = any (p_only);
  return query
    select v.label, m.at, v.value
      from (select s.at, s.mean || '{}'::real[] as mean
              from history.sample s
             where s.setup = p_setup and s.step = '1 minute' and s.at > p_at - p_over and s.at <= p_at
            offset 0) m
     cross join lateral (  -- per minute, so that the values of a minute are read once
       select w.label, case when v_max then max(coalesce(m.mean[w.place], 0))
                            else sum(coalesce(m.mean[w.place], 0)::float8) end as value
         from unnest(v_places, v_labels) w (place, label)
        group by w.label) v
     union all
    select '', s.at, 0
      from history.sample s
     where v_places is null and p_by is null and s.setup = p_setup and s.step = '1 minute' and s.at > p_at - p_over
       and s.at <= p_at;
end $$;

comment on function alert.minute_values(text, timestamptz, text, jsonb, text, interval, text[]) is
  'A figure in each sampled minute up to a given one, for each value of a label, or, if p_by is null, of all series '
  'together. p_only: only these values of the label; null = all. Series without a value for two days are left out.';
