-- The function reads rows of the longest step that is short enough, and beyond the last of them rows of shorter steps.
-- Each row is unpacked once, for all figures and series asked for. A line normally has few series, whose values are
-- added without an aggregate: a day of 300 queues is 80,000 values. The longer steps therefore show which lines are the
-- largest, and all others become one line before the shorter steps are read. A line is an array, as a page draws it.
-- Long because one statement reads each row once. The sum of a line is written twice, for means and for largest values:
-- a function for it would not be inlined, and would be called for each value. unnest is used in lists of columns: in a
-- FROM list, the places would be materialized for each row, which takes as long as adding the values.
create or replace function history.figures_over(
  p_setup text, p_figures jsonb, p_since timestamptz, p_until timestamptz default null, p_points int default 300,
  p_lines int default null
) returns table (number int, label text, began timestamptz, width interval, spans int[], samples int[], value float8[],
                 most float8[])
language plpgsql stable security definer set search_path = history, pg_temp set jit = off
set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  v_until timestamptz := coalesce(p_until, resource.clock(p_setup));
  v_width interval;
  v_began timestamptz;
begin
  perform resource.identify_viewer(p_setup);
  if jsonb_typeof(p_figures) is distinct from 'array' then
    raise exception 'p_figures is %, which is not an array', coalesce(resource.shown(p_figures), 'null')
      using errcode = 'PB001', hint = 'For example [{"figure": "jobs_waiting", "by": "reason", "labels": {}}].';
  end if;
  perform history.require_figure(p_setup, f ->> 'figure', f ->> 'by', coalesce(f -> 'labels', '{}'))
     from jsonb_array_elements(p_figures) f;
  if p_since is null or p_since >= v_until then
    raise exception 'p_since is %, which is not before %', coalesce(p_since::text, 'null'), v_until
      using errcode = 'PB001', hint = 'Give a time before the end of the span.';
  elsif p_since < '1900-01-01' or v_until > '9000-01-01' then
    raise exception 'the span % to % is not within the years 1900 to 9000', p_since, v_until
      using errcode = 'PB001', hint = 'Give times of these years.';
  elsif p_points is null or p_points not between 1 and 2000 then
    raise exception 'p_points is %, which is not within 1..2000', coalesce(p_points::text, 'null')
      using errcode = 'PB001', hint = 'Give the number of points of a line, for example 200.';
  elsif p_lines < 1 then
    raise exception 'p_lines is %, which is less than 1', p_lines
      using errcode = 'PB001', hint = 'Give 1 or more, or omit p_lines.';
  end if;
  v_width := greatest(history.width_of(v_until - p_since, p_points), history.least_width(p_setup, p_since));
  v_began := date_bin(v_width, p_since, 'epoch');
  return query
    with wanted as materialized (
      select w.number::int, f.figure, f.fold = 'max' as is_max, coalesce(w.figure -> 'labels', '{}') as labels,
             w.figure ->> 'by' as by
        from jsonb_array_elements(p_figures) with ordinality w (figure, number)
        join history.figure f on f.figure = w.figure ->> 'figure'
    ), series as materialized (
      select w.number, w.is_max, coalesce(s.labels ->> w.by, '') as label, s.place
        from wanted w
        join history.series s on s.setup = p_setup and s.figure = w.figure and s.labels @> w.labels
    ), ranked as (  -- only figures with more than p_lines lines
      select s.number, s.label, row_number() over (partition by s.number order by sum(s.sum) desc, s.label) as rank
        from (select s.number, s.label, coalesce(r.mean[s.place], 0)::float8 * r.samples as sum
                from (select i.number, i.label, i.place from series i
                       where i.number in (select l.number from series l
                                           group by l.number having count(distinct l.label) > p_lines)) s
               cross join (select r.samples, r.mean || '{}'::real[] as mean
                             from history.rows_between(p_setup, p_since, v_until, greatest(v_width, '1 hour')) r
                           offset 0) r) s
       group by s.number, s.label
    ), line as materialized (
      select row_number() over (order by l.number, l.label) as line, l.number, l.label, l.is_max,
             l.place[1] as first, l.place[2] as second, l.place[3] as third, nullif(l.place[4:], '{}') as others
        from (select s.number, s.is_max, case when k.rank > p_lines then 'other' else s.label end as label,
                     array_agg(s.place order by s.place) as place
                from series s left join ranked k on k.number = s.number and k.label = s.label
               group by s.number, s.is_max, case when k.rank > p_lines then 'other' else s.label end) l
    ), sampled as (
      select (extract(epoch from date_bin(v_width, r.at, 'epoch') - v_began)
              / extract(epoch from v_width))::int as span,
             r.samples, r.mean || '{}'::real[] as mean,
             case when r.most is not null then r.most || '{}'::real[] end as most
        from history.rows_between(p_setup, p_since, v_until, v_width) r offset 0
    ), piece as not materialized (
      select p.line, p.span, p.samples,
             case when p.second is null then p.mean[p.first]
                  when p.is_max then greatest(p.mean[p.first], p.mean[p.second], p.mean[p.third], p.others[1])
                  else coalesce(p.mean[p.first]::float8, 0) + coalesce(p.mean[p.second]::float8, 0)
                       + coalesce(p.mean[p.third]::float8, 0) + coalesce(p.others[1], 0)
             end as value,
             case when p.most is null then null
                  when p.second is null then p.most[p.first]
                  when p.is_max then greatest(p.most[p.first], p.most[p.second], p.most[p.third], p.others[2])
                  else coalesce(p.most[p.first]::float8, 0) + coalesce(p.most[p.second]::float8, 0)
                       + coalesce(p.most[p.third]::float8, 0) + coalesce(p.others[2], 0)
             end as most
        from (select l.line, l.is_max, l.first, l.second, l.third, r.span, r.samples, r.mean, r.most,
                     case when l.others is null then null
                          when l.is_max
                          then (select array[max(r.mean[o.place]), max(r.most[o.place])]::float8[]
                                  from (select unnest(l.others) as place) o)
                          else (select array[sum(r.mean[o.place]::float8), sum(r.most[o.place]::float8)]
                                  from (select unnest(l.others) as place) o) end as others
                from line l cross join sampled r offset 0) p
    ), point as (
      select p.line, p.span, sum(p.samples)::int as samples,
             sum(coalesce(p.value, 0) * p.samples) / sum(p.samples) as value,
             coalesce(max(coalesce(p.most, p.value)), 0)::float8 as most
        from piece p
       group by p.line, p.span
    )
    select l.number, l.label, v_began, v_width, o.spans, o.samples, o.value, o.most
      from (select p.line, array_agg(p.span order by p.span) as spans, array_agg(p.samples order by p.span) as samples,
                   array_agg(p.value order by p.span) as value, array_agg(p.most order by p.span) as most
              from point p
             group by p.line) o
      join line l on l.line = o.line
     order by l.line;
end $$;

comment on function history.figures_over(text, jsonb, timestamptz, timestamptz, int, int) is
  'Figures over time, one row per line. p_figures: an array of objects with the keys figure, by and labels; number is '
  'the position in it, from 1. by: a label, each value of which has a line of its own; null = all series are one line. '
  'labels: only series with these labels, such as {"site": "CERN"}. p_until: null = now. p_points: the largest number '
  'of spans of a usual width; began is the beginning of the first span. p_lines: the number of values of the label '
  'that have lines of their own: those with the largest sums over the requested time, in steps of an hour or longer; '
  'all others are added up as other; null = all values have lines. spans: numbers of the sampled spans, from 0, with '
  'the minutes sampled, the mean and the largest value of each. Spans older than the kept minutes are at least an hour '
  'or a day long. Errors: PB001 (figures, span), PB002 (setup not granted).';
