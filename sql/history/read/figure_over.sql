-- Rows of the longest step that is short enough are read, and beyond the last of them rows of shorter steps. Each row
-- is unpacked once, however many series are asked for. A label has one or two series as a rule, whose values are added
-- without an aggregate, and is a number until the end: a day of 300 queues is 80,000 values.
create or replace function history.figure_over(
  p_setup text, p_figure text, p_since timestamptz, p_until timestamptz default null, p_by text default null,
  p_labels jsonb default '{}', p_points int default 300, p_lines int default null
) returns table (at timestamptz, width interval, label text, value float8, most float8, samples int)
language plpgsql stable security definer set search_path = history, pg_temp set jit = off as $$
#variable_conflict use_column
declare
  v_until timestamptz := coalesce(p_until, resource.clock(p_setup));
  v_width interval;
  v_places int[];
  v_labels text[];
  v_max boolean;
begin
  perform resource.identify_viewer(p_setup);
  perform history.require_figure(p_setup, p_figure, p_by, p_labels);
  if p_since is null or p_since >= v_until then
    raise exception 'p_since is %, which is not before %', coalesce(p_since::text, 'null'), v_until
      using errcode = 'PB001';
  elsif p_since < '1900-01-01' or v_until > '9000-01-01' then
    raise exception 'the span % to % is not within the years 1900 to 9000', p_since, v_until using errcode = 'PB001';
  elsif p_points is null or p_points not between 1 and 2000 then
    raise exception 'p_points is %, which is not within 1..2000', coalesce(p_points::text, 'null')
      using errcode = 'PB001';
  elsif p_lines < 1 then
    raise exception 'p_lines is %, which is less than 1', p_lines using errcode = 'PB001';
  end if;
  v_max := (select f.fold = 'max' from history.figure f where f.figure = p_figure);
  v_width := greatest(history.width_of(v_until - p_since, p_points), history.least_width(p_setup, p_since));
  select array_agg(s.place order by s.place), array_agg(coalesce(s.labels ->> p_by, '') order by s.place)
    into v_places, v_labels
    from history.series s
   where s.setup = p_setup and s.figure = p_figure and s.labels @> p_labels;
  return query
    with label as materialized (
      select l.label, l.place[1] as first, l.place[2] as second, nullif(l.place[3:], '{}') as others,
             row_number() over (order by l.label)::int as number
        from (select w.label, array_agg(w.place order by w.place) as place
                from unnest(v_places, v_labels) w (place, label) group by w.label) l
    ), piece as not materialized (
      select date_bin(v_width, r.at, 'epoch') as bin, r.samples, l.number, l.value, l.most
        from history.rows_between(p_setup, p_since, v_until, v_width) r
       cross join lateral (select r.mean || '{}'::real[] as mean, coalesce(r.most, r.mean) || '{}'::real[] as most
                           offset 0) u
       cross join lateral (
         select b.number,
                case when v_max then greatest(u.mean[b.first], u.mean[b.second], case when b.others is not null
                       then (select max(u.mean[o]) from unnest(b.others) o) end)
                     else coalesce(u.mean[b.first]::float8, 0) + coalesce(u.mean[b.second]::float8, 0)
                       + case when b.others is null then 0
                              else coalesce((select sum(u.mean[o]::float8) from unnest(b.others) o), 0) end
                end as value,
                case when r.most is null then null
                     when v_max then greatest(u.most[b.first], u.most[b.second], case when b.others is not null
                       then (select max(u.most[o]) from unnest(b.others) o) end)
                     else coalesce(u.most[b.first]::float8, 0) + coalesce(u.most[b.second]::float8, 0)
                       + case when b.others is null then 0
                              else coalesce((select sum(u.most[o]::float8) from unnest(b.others) o), 0) end
                end as most
           from label b) l
    ), line as (
      select p.bin, p.number, sum(coalesce(p.value, 0) * p.samples) / sum(p.samples) as value,
             coalesce(max(coalesce(p.most, p.value)), 0)::float8 as most, sum(p.samples)::int as samples
        from piece p
       group by p.bin, p.number
    ), shown as (
      select l.number,
             case when row_number() over (order by sum(l.value * l.samples) desc, l.number) > p_lines then 'other'
                  else (select b.label from label b where b.number = l.number) end as name
        from line l group by l.number
    )
    select l.bin, v_width, s.name, case when v_max then max(l.value) else sum(l.value) end,
           case when v_max then max(l.most) else sum(l.most) end, max(l.samples)
      from line l
      join shown s on s.number = l.number
     group by l.bin, s.name
     order by l.bin, s.name;
end $$;

comment on function history.figure_over(text, text, timestamptz, timestamptz, text, jsonb, int, int) is
  'A figure over time: for each span of a usual width, of which there are at most p_points, the mean and the largest '
  'value. p_by: a label, of which each value has rows of its own; null = all series together. p_labels: only series '
  'with these labels, such as {"site": "CERN"}. p_until: null = now. p_lines: so many values of the label have rows of '
  'their own, those with the largest sums, and all others are together as other; null = all have. Spans that were not '
  'sampled have no row. Spans that are older than minutes are kept are of an hour or a day at least. Errors: PB001 '
  '(figure, label, span), PB002 (setup not granted).';
