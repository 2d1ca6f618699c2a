create or replace function alert.measured(
  p_setup text, p_at timestamptz, p_figure text, p_labels jsonb, p_by text, p_over interval
) returns table (label text, value float8)
language sql stable as $$
  select v.label, avg(v.value)
    from alert.minute_values(p_setup, p_at, p_figure, p_labels, p_by, p_over) v group by v.label
$$;

comment on function alert.measured(text, timestamptz, text, jsonb, text, interval) is
  'The mean of a figure over the sampled minutes up to a given one, for each value of a label, or, if p_by is null, of '
  'all series together (alert.minute_values).';
