-- See SERVICE.md, Sessions.
create or replace function resource.make_ticket(p_setup text, p_name text, p_kind text)
returns table (ticket text, expires_at timestamptz)
language plpgsql security definer set search_path = resource, pg_temp as $$
begin
  perform resource.require_holder(p_setup, 'ticket', p_name, p_kind, false);
  return query select t.ticket, t.expires_at from resource.new_ticket(p_setup, p_name, p_kind) t;
end $$;

comment on function resource.make_ticket(text, text, text) is
  'Makes a ticket that opens a browser session in the setup, as agent, operator or viewer. The ticket can be used '
  'once, within a minute, and is shown only this once. Errors: PB001 (name, kind), PB002.';
