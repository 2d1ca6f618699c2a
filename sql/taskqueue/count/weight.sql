-- SHARES.md, Weight of a TaskQueue: user priority 0 has the weight 0.00001, 10 with ten_first has 1,000,000, and every
-- other priority is its own weight.
create or replace function taskqueue.weight(p_user_priority int, p_ten_first boolean) returns float8
language sql immutable as $$
  select case when p_user_priority = 0 then 1e-5
              when p_user_priority = 10 and p_ten_first then 1e6
              else p_user_priority end::float8
$$;

comment on function taskqueue.weight(int, boolean) is 'Weight of a user priority in the mean weight of a TaskQueue.';
