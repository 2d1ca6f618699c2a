-- Called where a row of resource.setup_move was seen. Volatile: it looks again, after the lock. Whoever moves a setup
-- holds that lock; a mover that died holds none, and its setup never left.
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
    using errcode = 'PB006', detail = 'The setup moves between shards.',
          hint = case v_move.state
                   when 'leaving' then 'Try again in some seconds.'
                   when 'moved' then 'Try again, at the front; broker cluster move ends a move that was broken off.'
                   else 'Try again in some seconds; broker cluster move ends a move that was broken off.' end;
end $$;

comment on function resource.require_here(text) is
  'Refuses a setup that moves to another shard, or has moved there. Errors: PB006.';
