-- Section 7: lowering a limit evicts nobody, so there may be more slots than its ceiling. Slots are numbered, and a number above the
-- ceiling is looked for first: one index probe, where there never were too many.
create or replace function taskqueue.surplus_slots(p_setup text, p_limit_id bigint, p_ceiling int) returns bigint
language sql stable
as $$
  select case when exists (select from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id and s.slot > p_ceiling)
              then (select greatest(count(*) - p_ceiling, 0) from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id)
              else 0
         end
$$;

comment on function taskqueue.surplus_slots(text, bigint, int) is
'How many slots a running limit has above its ceiling, since it was lowered.';
