-- See SERVICE.md, Sessions. If two browsers use a ticket at once, the second waits for the row and finds it gone.
create or replace function resource.use_ticket(p_ticket text, p_session text) returns timestamptz
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_ticket resource.login_ticket;
begin
  delete from resource.login_ticket t
   where t.hash = sha256(convert_to(p_ticket, 'UTF8')) and t.expires_at > now()
  returning t.* into v_ticket;
  if not found then
    raise exception 'the ticket is not known, has been used or has ended'
      using errcode = 'PB008', hint = 'Start broker serve --open again.';
  end if;
  if exists (select from resource.setup_move m where m.setup = v_ticket.setup) then
    perform resource.require_here(v_ticket.setup);
  end if;
  return resource.new_session(v_ticket.hash, 'browser ' || v_ticket.name, null, v_ticket.setup, v_ticket.kind,
                              p_session);
end $$;

comment on function resource.use_ticket(text, text) is
  'For the service: opens a session for a ticket, which can be used only once; returns the end of the session. '
  'p_session: sha256 of the cookie, in hex. Errors: PB001 (no sha256), PB006 (its setup moves to another shard), PB008 '
  '(no such ticket).';
