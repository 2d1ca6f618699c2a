-- SHARES.md, Priority of a TaskQueue: the priority within its entity, before the sum over its family.
create or replace function taskqueue.own_priority(
  p_share float8, p_weight float8, p_sum float8, p_allow_background boolean
) returns float8
language sql immutable as $$
  select case when taskqueue.is_background(p_weight, p_allow_background) then 0.001
              else greatest(p_share * p_weight / p_sum, 0.001) end
$$;

comment on function taskqueue.own_priority(float8, float8, float8, boolean) is
  'Priority of a TaskQueue: its part of the share of its entity by mean weight, at least 0.001; a background TaskQueue '
  'gets 0.001.';
