-- LEASES.md, Exactness of limits: lowering a limit evicts nobody, so there may be more slots, free and used, than its
-- ceiling. Each row with a negative number is one surplus slot. Such rows are made only while no other call works in
-- the setup, so a match always reads all of them.
create or replace function taskqueue.surplus_slots(p_setup text, p_limit_id bigint) returns bigint
language sql stable as $$
  select count(*) from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id and s.slot < 0
$$;

comment on function taskqueue.surplus_slots(text, bigint) is
  'The number of slots that a running limit has above its ceiling after it was lowered.';
