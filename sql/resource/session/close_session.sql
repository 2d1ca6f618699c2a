create or replace function resource.close_session(p_session text) returns boolean
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_gone resource.browser_session;
begin
  delete from resource.browser_session s where s.hash = decode(p_session, 'hex') returning s.* into v_gone;
  if found then
    perform resource.note_session(v_gone, true);
    return true;
  end if;
  return false;
end $$;

comment on function resource.close_session(text) is
  'For the service: closes the session with this sha256, in hex. Returns false if there was no such session.';
