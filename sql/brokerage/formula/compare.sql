-- conventions.md, Exact arithmetic: the values are compared as float8 if they are clearly apart, else as numeric; only
-- then are the exact values computed. An argument is evaluated as often as it is written here: once if the left value
-- is clearly less, as for most queues. The planner does not inline the call if an argument that is written twice is not
-- cheap (ten operators), so the exact arguments are written once. The first two arguments are not both negative.
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
  'Exact sign of left minus right, however near the two values are; null if one of them is null.';
