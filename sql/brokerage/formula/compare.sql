-- conventions.md, Exact arithmetic: float8 if the two values are clearly apart, numeric if they are not. The exact
-- values are computed only then. An argument is evaluated as often as it is written here: once each if the left one is
-- clearly less, as for most queues. The planner does not inline the call if an argument that is written twice is not
-- cheap (ten operators), so the exact ones are written once. The first two are not both negative.
create or replace function brokerage.compare(p_left float8, p_right float8, p_exact_left numeric, p_exact_right numeric)
returns int
language sql stable parallel safe as $$
  select case
    when p_left < p_right * 0.999999999 then -1
    when p_left > p_right * 1.000000001 then 1
    when p_left - p_right is null then null  -- otherwise the exact values would be computed in vain
    else coalesce(nullif(sign(p_exact_left - p_exact_right), 'NaN'), 0)::int  -- NaN: both are infinite
  end
$$;

comment on function brokerage.compare(float8, float8, numeric, numeric) is
  'Exact sign of left minus right, however near they are; null if one of them is null.';
