-- DRAWING.md, Order statistics: the smallest of n draws with the same priority has the distribution (1 - (1 -
-- u)^(1/n))/p, or -ln(u)/(n p) under the policy proportional, so one draw serves n candidates. If all n lie above a
-- key, the smallest is v + (1 - v)(1 - (1 - u)^(1/n)) with v = p * key, or key - ln(u)/(n p), so the next candidate is
-- drawn only when it is needed. With p_count 1/n, n candidates together have the distribution of one. Double precision
-- keeps 9 digits of 1 - (1 - u)^(1/n) at n = 10 million.
create or replace function taskqueue.draw_key(
  p_draw float8, p_count float8, p_priority float8, p_policy text, p_last_key float8 default 0
) returns float8
language sql immutable as $$
  select case when p_policy = 'proportional' then p_last_key - ln(p_draw) / (p_count * p_priority)
              when p_count >= 1 then p_last_key + (1 / p_priority - p_last_key) * (1 - power(1 - p_draw, 1 / p_count))
              -- without an underflow, which is an error
              else p_last_key + (1 / p_priority - p_last_key) * (1 - exp(greatest(ln(1 - p_draw) / p_count, -600)))
         end
$$;

comment on function taskqueue.draw_key(float8, float8, float8, text, float8) is
  'Key of the smallest draw of p_count candidates with the same priority, given that all lie above p_last_key; the '
  'smallest key is taken first.';
