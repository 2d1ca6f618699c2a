-- The function returns one figure of history.figures_over, one row for each span and line, for queries and dashboards.
create or replace function history.figure_over(
  p_setup text, p_figure text, p_since timestamptz, p_until timestamptz default null, p_by text default null,
  p_labels jsonb default '{}', p_points int default 300, p_lines int default null
) returns table (at timestamptz, width interval, label text, value float8, most float8, samples int)
language sql stable as $$
  select f.began + u.span * f.width, f.width, f.label, u.value, u.most, u.samples
    from history.figures_over(
           p_setup, jsonb_build_array(jsonb_build_object('figure', p_figure, 'by', p_by, 'labels', p_labels)),
           p_since, p_until, p_points, p_lines) f
   cross join lateral unnest(f.spans, f.samples, f.value, f.most) u (span, samples, value, most)
   order by 1, f.label
$$;

comment on function history.figure_over(text, text, timestamptz, timestamptz, text, jsonb, int, int) is
  'A figure over time: the mean and the largest value for each span of a usual width, for at most p_points spans. '
  'p_by: a label, each value of which has rows of its own; null = all series together. p_labels: only series with '
  'these labels, such as {"site": "CERN"}. p_until: null = now. p_lines: the number of values of the label that have '
  'rows of their own; all others are added up as other (history.figures_over); null = all values have rows. Spans that '
  'were not sampled have no row. Spans older than the kept minutes are at least an hour or a day long. Errors: PB001 '
  '(figure, label, span), PB002 (setup not granted).';
