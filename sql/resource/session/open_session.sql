-- See SERVICE.md, Sessions. A person who is known to the provider but has no credential is refused here, and nothing is
-- stored. The claims that decide the person's role are kept.
create or replace function resource.open_session(p_login text, p_claims jsonb, p_session text) returns timestamptz
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_subject text := concat_ws(' ', p_claims ->> 'iss', p_claims ->> 'sub');
  v_kept jsonb;
begin
  -- A setup that moves here brings credentials that may depend on other claims, so the mover waits for this session.
  lock table resource.browser_session in row exclusive mode;
  if not exists (select from resource.setups_of_claims(p_claims)) then
    raise exception 'no credential fits the login of %', resource.shown(to_jsonb(v_subject))
      using errcode = 'PB002',
            hint = 'An operator can add one: broker credential set. Credentials that fit equally do not count.';
  end if;
  select jsonb_object_agg(c.key, c.value) into v_kept
    from jsonb_each(p_claims) c
   where c.key in ('iss', 'sub')
      or exists (select from resource.credential o
                  where o.issuer = p_claims ->> 'iss' and c.key in (o.claim, o.owner_group_claim, o.owner_dn_claim));
  return resource.new_session(decode(p_login, 'hex'), v_subject, v_kept, null, null, p_session);
end $$;

comment on function resource.open_session(text, jsonb, text) is
  'For the service: opens a browser session for a person with these verified claims; returns its end. p_login: sha256 '
  'of the login, in hex; a login opens one session. p_session: sha256 of the cookie, in hex. Errors: PB001 (no '
  'sha256), PB002 (no credential fits), PB008 (the login has been used).';
