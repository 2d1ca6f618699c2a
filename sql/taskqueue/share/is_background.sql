-- SHARES.md, Priority of a TaskQueue: background is a weight of at most 0.1, in a group that allows it.
create or replace function taskqueue.is_background(p_weight float8, p_allow_background boolean) returns boolean
language sql immutable as $$
  select p_allow_background and p_weight <= 0.1
$$;

comment on function taskqueue.is_background(float8, boolean) is
  'Whether a TaskQueue of this mean weight is background in its group.';
