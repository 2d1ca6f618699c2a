-- A series that had a value lately has a row with zero, so that a metric does not vanish when it becomes zero.
create or replace function history.last_sample(p_setup text)
returns table (at timestamptz, figure text, labels jsonb, value float8)
language plpgsql stable security definer set search_path = history, pg_temp set jit = off as $$
#variable_conflict use_column
begin
  perform resource.identify_viewer(p_setup);
  return query
    with last as materialized (
      select s.at, s.mean || '{}'::real[] as mean
        from history.freshness f
        join history.sample s on s.setup = f.setup and s.step = '1 minute' and s.at = f.sampled_at
       where f.setup = p_setup and f.is_sampled
    )
    select l.at, i.figure, i.labels, coalesce(l.mean[i.place], 0)::float8
      from last l
      join history.series i on i.setup = p_setup and i.last_at >= l.at - interval '2 days';
end $$;

comment on function history.last_sample(text) is
  'The figures of the last minute that was sampled, for all series that had a value within two days. There is no row '
  'if that minute is not among the last five (history.freshness). Errors: PB002 (setup not granted).';
