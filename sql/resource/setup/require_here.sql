-- Callers have seen a row of resource.setup_move. The function is volatile, so it reads the row again after it has the
-- lock. The program that moves a setup holds the lock. If nobody holds it, the program died and the setup never left.
create or replace function resource.require_here(p_setup text) returns void
language plpgsql as $$
declare
  v_gone boolean := pg_try_advisory_xact_lock_shared(hashtext('cluster.move'), hashtext(p_setup));
  v_move resource.setup_move;
begin
  select m.* into v_move from resource.setup_move m where m.setup = p_setup;
  if not found or v_move.state = 'leaving' and v_gone then
    return;
  end if;
  raise exception 'setup % % shard %', p_setup,
    case v_move.state when 'leaving' then 'moves to' when 'moved' then 'has moved to' else 'arrives from' end,
    v_move.shard
    using errcode = 'PB006', detail = 'The setup is moving between shards.',
          hint = case v_move.state
                   when 'leaving' then 'Try again in some seconds.'
                   when 'moved' then 'Try again, at the front; broker cluster move ends a move that was broken off.'
                   else 'Try again in some seconds; broker cluster move ends a move that was broken off.' end;
end $$;

comment on function resource.require_here(text) is
  'Refuses a setup that is moving to another shard, or has moved to one. Errors: PB006.';
