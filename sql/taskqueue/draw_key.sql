-- Section 5: order by random()/priority ascending (seed 004); the policy proportional orders by -ln(random())/priority.
-- The smallest of n draws with equal priority has the law (1 - (1 - u)^(1/n))/p, or -ln(u)/(n p): one draw serves n candidates.
-- A double keeps 9 digits of 1 - (1 - u)^(1/n) at n = 10 million.
create or replace function taskqueue.draw_key(p_draw float8, p_count float8, p_priority float8, p_policy text) returns float8
language sql immutable
as $$
  select case when p_policy = 'proportional' then -ln(p_draw) / (p_count * p_priority)
              when p_count = 1 then p_draw / p_priority  -- the same; folded when planning, it spares a power() a queue: 4 % at 10,000 queues
              else (1 - power(1 - p_draw, 1 / p_count)) / p_priority
         end
$$;

comment on function taskqueue.draw_key(float8, float8, float8, text) is
'Key of the smallest draw of p_count candidates with the same priority; the smallest key is taken first (section 5).';
