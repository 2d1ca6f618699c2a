-- classes.md, How long classes count: an older value counts as missing.
create or replace function brokerage.is_current(p_at timestamptz, p_now timestamptz, p_age_limit interval)
returns boolean
language sql stable parallel safe as $$
  select coalesce(p_at >= p_now - p_age_limit, true)
$$;

comment on function brokerage.is_current(timestamptz, timestamptz, interval) is
  'Whether a value stored at p_at, which counts for p_age_limit, still counts at p_now; a value without a time always '
  'counts.';
