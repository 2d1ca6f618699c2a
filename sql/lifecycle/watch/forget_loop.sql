create or replace function lifecycle.forget_loop(p_setup text, p_name text) returns boolean
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
begin
  if p_setup is not null then
    perform resource.identify(p_setup);
  end if;
  delete from lifecycle.loop l where l.setup is not distinct from p_setup and l.name = p_name;
  return found;
end $$;

comment on function lifecycle.forget_loop(text, text) is
  'Forgets that a loop of a setup, or of all setups (null), ever ran, so that monitor.health no longer demands it; '
  'false when it never did. Where a process works on it, its next beat brings it back. '
  'Errors: PB002 (setup not granted).';
