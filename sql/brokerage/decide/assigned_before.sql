-- What the turns of a batch before this one assigned, by the number of the queue (brokerage.decide_in_turn): jobs, or
-- the work of tasks. It goes from one turn to the next in a setting of the transaction, as all turns are one query.
-- Volatile, and of the turn: to be read again in each, not before.
create or replace function brokerage.assigned_before(p_turn bigint) returns float8[]
language plpgsql volatile
as $$
declare
  v_said text := current_setting('brokerage.assigned');
begin
  if split_part(v_said, ' ', 1)::bigint <> p_turn then
    raise exception 'turn % is decided in turn %', p_turn, split_part(v_said, ' ', 1)
      using errcode = 'XX000', hint = 'The plan of the turns is not one row after the other: a bug, please report it.';
  end if;
  return split_part(v_said, ' ', 2)::float8[];
end $$;

comment on function brokerage.assigned_before(bigint) is
  'What the turns of a batch before a turn assigned, by the number of the queue or nucleus; null where nothing was. '
  'Fails in another turn.';
