-- Rows of the longest step that is short enough are read, and beyond the last of them rows of shorter steps. Each row
-- is unpacked once, however many figures and series are asked for. A line has few series as a rule, whose values are
-- added without an aggregate: a day of 300 queues is 80,000 values. So longer steps show which lines are the largest,
-- and all others become one line before the shorter steps are read. A line is an array, as a page draws it.
-- Long because one statement reads each row once. The sum of a line stands twice, for means and for largest values: a
-- function of it would not be inlined, and be called for each value.
create or replace function history.figures_over(
  p_setup text, p_figures jsonb, p_since timestamptz, p_until timestamptz default null, p_points int default 300,
  p_lines int default null
) returns table (number int, label text, began timestamptz, width interval, spans int[], samples int[], value float8[],
                 most float8[])
language plpgsql stable security definer set search_path = history, pg_temp set jit = off as $$
#variable_conflict use_column
declare
  v_until timestamptz := coalesce(p_until, resource.clock(p_setup));
  v_width interval;
  v_began timestamptz;
begin
  perform resource.identify_viewer(p_setup);
  if jsonb_typeof(p_figures) is distinct from 'array' then
    raise exception 'p_figures is %, which is no array', coalesce(resource.shown(p_figures), 'null')
      using errcode = 'PB001', hint = 'For example [{"figure": "jobs_waiting", "by": "reason", "labels": {}}].';
  end if;
  perform history.require_figure(p_setup, f ->> 'figure', f ->> 'by', coalesce(f -> 'labels', '{}'))
     from jsonb_array_elements(p_figures) f;
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
  v_width := greatest(history.width_of(v_until - p_since, p_points), history.least_width(p_setup, p_since));
  v_began := date_bin(v_width, p_since, 'epoch');
  return query
    with series as materialized (
      select w.number::int, f.fold = 'max' as is_max, coalesce(s.labels ->> (w.figure ->> 'by'), '') as label, s.place
        from jsonb_array_elements(p_figures) with ordinality w (figure, number)
        join history.figure f on f.figure = w.figure ->> 'figure'
        join history.series s on s.setup = p_setup and s.figure = f.figure
                             and s.labels @> coalesce(w.figure -> 'labels', '{}')
    ), ranked as (
      select s.number, s.label, row_number() over (partition by s.number order by sum(s.sum) desc, s.label) as rank
        from (select s.number, s.label, coalesce(r.mean[s.place], 0)::float8 * r.samples as sum
                from series s
               cross join (select r.samples, r.mean || '{}'::real[] as mean
                             from history.rows_between(p_setup, p_since, v_until, greatest(v_width, '1 hour')) r
                            where p_lines is not null offset 0) r) s
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
      select l.line, r.span, r.samples,
             case when l.second is null then r.mean[l.first]
                  when l.is_max then greatest(r.mean[l.first], r.mean[l.second], r.mean[l.third],
                    case when l.others is not null then (select max(r.mean[o]) from unnest(l.others) o) end)
                  else coalesce(r.mean[l.first]::float8, 0) + coalesce(r.mean[l.second]::float8, 0)
                       + coalesce(r.mean[l.third]::float8, 0)
                       + case when l.others is null then 0
                              else coalesce((select sum(r.mean[o]::float8) from unnest(l.others) o), 0) end
             end as value,
             case when r.most is null then null
                  when l.second is null then r.most[l.first]
                  when l.is_max then greatest(r.most[l.first], r.most[l.second], r.most[l.third],
                    case when l.others is not null then (select max(r.most[o]) from unnest(l.others) o) end)
                  else coalesce(r.most[l.first]::float8, 0) + coalesce(r.most[l.second]::float8, 0)
                       + coalesce(r.most[l.third]::float8, 0)
                       + case when l.others is null then 0
                              else coalesce((select sum(r.most[o]::float8) from unnest(l.others) o), 0) end
             end as most
        from line l cross join sampled r
    ), point as (
      select p.line, p.span, sum(p.samples)::int as samples,
             sum(coalesce(p.value, 0) * p.samples) / sum(p.samples) as value,
             coalesce(max(coalesce(p.most, p.value)), 0)::float8 as most
        from piece p
       group by p.line, p.span
    )
    select l.number, l.label, v_began, v_width, array_agg(p.span order by p.span), array_agg(p.samples order by p.span),
           array_agg(p.value order by p.span), array_agg(p.most order by p.span)
      from point p join line l on l.line = p.line
     group by l.line, l.number, l.label
     order by l.line;
end $$;

comment on function history.figures_over(text, jsonb, timestamptz, timestamptz, int, int) is
  'Figures over time, a row a line. p_figures: an array of objects with the keys figure, by and labels; number is the '
  'place in it, from 1. by: a label, of which each value has a line of its own; null = all series are one line. '
  'labels: only series with these labels, such as {"site": "CERN"}. p_until: null = now. p_points: at most so many '
  'spans of a usual width, the first of which began at began. p_lines: so many values of the label have lines, those '
  'with the largest sums in the hours, or longer spans, of the time asked for; all others are together as other; null '
  '= all have. spans: numbers of the spans that were sampled, from 0, with the minutes sampled, the mean and the '
  'largest value of each. Spans that are older than minutes are kept are of an hour or a day at least. Errors: PB001 '
  '(figures, span), PB002 (setup not granted).';
