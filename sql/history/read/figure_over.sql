-- One figure of history.figures_over, a row a span and line, as a query or a board reads it.
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
  'A figure over time: for each span of a usual width, of which there are at most p_points, the mean and the largest '
  'value. p_by: a label, of which each value has rows of its own; null = all series together. p_labels: only series '
  'with these labels, such as {"site": "CERN"}. p_until: null = now. p_lines: so many values of the label have rows of '
  'their own, and all others are together as other (history.figures_over); null = all have. Spans that were not '
  'sampled have no row. Spans that are older than minutes are kept are of an hour or a day at least. Errors: PB001 '
  '(figure, label, span), PB002 (setup not granted).';
