-- Section 7: lowering a limit evicts nobody, so there may be more slots, free and used, than its ceiling: as many as
-- there are rows with negative numbers. They are never made but where nobody is inside the setup, so that a match
-- which has read them has read all.
create or replace function taskqueue.surplus_slots(p_setup text, p_limit_id bigint) returns bigint
language sql stable
as $$
  select count(*) from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id and s.slot < 0
$$;

comment on function taskqueue.surplus_slots(text, bigint) is
  'How many slots a running limit has above its ceiling, since it was lowered.';
