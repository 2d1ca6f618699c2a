-- Assignments are jobs or the work of tasks (brokerage.answers_in_turn). A setting of the transaction passes them from
-- turn to turn, since all turns are one query. The function is volatile, so that each turn reads them again.
create or replace function brokerage.assigned_before(p_turn bigint) returns float8[]
language plpgsql volatile as $$
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
  'Assignments of the earlier turns of a batch, by the number of the queue or nucleus; null if there is none. The call '
  'fails if the given turn is not the current one.';
