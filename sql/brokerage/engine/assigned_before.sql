-- What the turns of a batch before this one assigned, by the number of the queue (brokerage.decide_in_turn): jobs, or the work of tasks. It goes from one
-- turn to the next in a setting of the transaction, as all turns are one query. Volatile, and of the turn: to be read again in each.
create or replace function brokerage.assigned_before(p_turn bigint) returns float8[]
language sql volatile
as $$
  select current_setting('brokerage.assigned')::float8[]
$$;

comment on function brokerage.assigned_before(bigint) is 'What the turns of a batch before a turn assigned, by the number of the queue or nucleus; null where nothing was.';
