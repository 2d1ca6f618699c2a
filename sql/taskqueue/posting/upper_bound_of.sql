-- A hair above the power of two, so that no priority is above the upper_bound of its weight_class by rounding.
create or replace function taskqueue.upper_bound_of(p_weight_class int) returns float8
language sql immutable
as $$
  select power(2::float8, p_weight_class / 4.0::float8) * 1.000000001
$$;

comment on function taskqueue.upper_bound_of(int) is
  'Upper end of a weight_class of priorities (taskqueue.weight_class_of).';
