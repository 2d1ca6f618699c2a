-- A hair above the power of two, so that no priority is above the ceiling of its band by rounding.
create or replace function taskqueue.ceiling_of_band(p_band int) returns float8
language sql immutable
as $$
  select power(2::float8, p_band / 4.0::float8) * 1.000000001
$$;

comment on function taskqueue.ceiling_of_band(int) is
  'Upper end of a band of priorities (taskqueue.band_of).';
