-- conventions.md, Exact arithmetic: float8 if the two values are clearly apart, numeric if they are not. The exact
-- values are computed only then. The first two must be cheap (ten operators), or the planner leaves the call in place.
create or replace function brokerage.compare(p_left float8, p_right float8, p_exact_left numeric, p_exact_right numeric)
returns int
language sql stable parallel safe as $$
  select case
    when abs(p_left - p_right) > 1e-9 * abs(p_left) then sign(p_left - p_right)::int
    when p_left - p_right is null then null  -- else the exact ones were made for nothing
    else sign(p_exact_left - p_exact_right)::int
  end
$$;

comment on function brokerage.compare(float8, float8, numeric, numeric) is
  'Sign of left minus right, exact however near they are; null if one of them is null.';
