-- Section 9: background queues (tp <= 0.1, where the group allows it).
create or replace function taskqueue.is_background(p_weight float8, p_allow_background boolean) returns boolean
language sql immutable
as $$
  select p_allow_background and p_weight <= 0.1
$$;

comment on function taskqueue.is_background(float8, boolean) is
  'Whether a queue of this mean draw weight is background in its group.';
