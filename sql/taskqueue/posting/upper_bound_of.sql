-- DRAWING.md, Posting lists. The bound is slightly above the power of two, so that rounding never puts a rate above the
-- upper bound of its weight class.
create or replace function taskqueue.upper_bound_of(p_weight_class int) returns float8
language sql immutable as $$
  select power(2::float8, ((p_weight_class >> 7) - (p_weight_class & 127)) / 4.0::float8) * 1.000000001
$$;

comment on function taskqueue.upper_bound_of(int) is
  'The number that no priority / siblings of a weight class exceeds (taskqueue.weight_class_of). Without the lowest '
  'seven bits of the class: the number that no priority of the class exceeds.';
