-- A loop that a process leads would return with the next beat of that process, so the call is refused.
create or replace function lifecycle.forget_loop(p_setup text, p_name text) returns boolean
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
  v_loop lifecycle.loop;
begin
  if p_setup is not null then
    perform resource.identify(p_setup);
  else
    perform resource.require_own('a loop of all setups', array(select s.setup from resource.setup s));
  end if;
  select l.* into v_loop from lifecycle.loop l
   where l.setup is not distinct from p_setup and l.name = p_name
     for update;
  if not found then
    return false;
  elsif v_loop.holder is not null and v_loop.expires_at > v_now and v_loop.renewed_at < v_now + interval '1 minute' then
    raise exception 'loop % is led by %', p_name, v_loop.held_by
      using errcode = 'PB005',
            hint = format('Stop that broker run, or start it again with --without %s. Then forget the loop.', p_name);
  end if;
  delete from lifecycle.loop l where l.setup is not distinct from p_setup and l.name = p_name;
  return true;
end $$;

comment on function lifecycle.forget_loop(text, text) is
  'Forgets that a loop of a setup, or of all setups (null), ever ran, so that monitor.health no longer demands the '
  'loop; false if it never ran. Errors: PB002 (setup not granted), PB005 (a process leads it).';
