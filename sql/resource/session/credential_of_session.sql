-- See SERVICE.md, Sessions. Credentials count as they are now, not as they were at the login.
create or replace function resource.credential_of_session(
  p_setup text, p_session text, out kind text, out name text, out owner_group text, out owner_dn text, out code text,
  out message text, out hint text
)
language plpgsql stable as $$
declare
  v_session resource.browser_session;
begin
  select s.* into v_session
    from resource.browser_session s where s.hash = decode(p_session, 'hex') and s.expires_at > now();
  if not found then
    code := 'PB008';
    message := 'the session is not known, has ended or was revoked';
    hint := 'Log in again.';
  elsif v_session.claims is not null then
    select c.kind, c.name, c.owner_group, c.owner_dn, case when c.kind is null then 'PB002' end, c.message, c.hint
      into kind, name, owner_group, owner_dn, code, message, hint
      from resource.credential_of(p_setup, v_session.claims) c;
  elsif exists (select from resource.setup t
                 where t.setup = p_setup and (v_session.setup is null or t.setup = v_session.setup)) then
    kind := v_session.kind;
    name := v_session.subject;
  else
    code := 'PB002';
    message := format('%s may not use setup %s', resource.shown(to_jsonb(v_session.subject)), p_setup);
    hint := coalesce('Its session is for setup ' || v_session.setup || '.', 'There is no such setup.');
  end if;
end $$;

comment on function resource.credential_of_session(text, text) is
  'The role that a browser has in a setup: its kind, its name, and the owner and group that it acts for. The cookie of '
  'the browser has this sha256, in hex. If the browser is refused, kind is null, and code, message and hint say why.';
