-- See SERVICE.md, Sessions. No role may call it: a ticket of every setup is for the owner of the installation, who owns
-- every setup anyway.
create or replace function resource.new_ticket(p_setup text, p_name text, p_kind text)
returns table (ticket text, expires_at timestamptz)
language plpgsql as $$
declare
  v_row resource.login_ticket;
begin
  ticket := resource.new_secret();
  expires_at := now() + interval '1 minute';
  delete from resource.login_ticket t
   where t.hash in (select e.hash from resource.login_ticket e where e.expires_at < now() for update skip locked);
  insert into resource.login_ticket as t
  values (sha256(convert_to(ticket, 'UTF8')), p_setup, p_name, p_kind, new_ticket.expires_at)
  returning t.* into v_row;
  perform resource.note_change(p_setup, 'ticket', p_name, null, to_jsonb(v_row) - 'hash');
  return next;
end $$;

comment on function resource.new_ticket(text, text, text) is
  'Makes a ticket that opens a browser session in the setup, or in every setup if it is null. The ticket can be used '
  'once, within a minute.';
