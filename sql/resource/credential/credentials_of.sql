-- The service asks for all waiting requests in one statement and caches no answer, so a revoked token is refused from
-- the next request on.
create or replace function resource.credentials_of(p_asked jsonb)
returns table (n int, role_name text, subject text, code text, message text, hint text)
language plpgsql stable security definer set search_path = resource, pg_temp as $$
declare
  v_asked record;
  v_found record;
begin
  for v_asked in
    select e.number::int as number, e.asked ->> 'setup' as setup, e.asked -> 'claims' as claims,
           e.asked ->> 'token' as token, e.asked ->> 'session' as session
      from jsonb_array_elements(p_asked) with ordinality e (asked, number)
  loop
    if v_asked.claims is not null then
      select c.kind, c.name, c.owner_group, c.owner_dn, case when c.kind is null then 'PB002' end as code, c.message,
             c.hint into v_found
        from resource.credential_of(v_asked.setup, v_asked.claims) c;
    elsif v_asked.session is not null then
      select c.* into v_found from resource.credential_of_session(v_asked.setup, v_asked.session) c;
    else
      select case when t.setup = v_asked.setup then t.kind end as kind, t.owner_group, t.owner_dn,
             -- pilots that share a stamp are different subjects
             case when t.stamp is null then 'token ' || t.name
                  else format('pilot %s %s', t.stamp, left(v_asked.token, 12)) end as name,
             case when t.hash is null then 'PB008' when t.setup <> v_asked.setup then 'PB002' end as code,
             case when t.hash is null then 'the token is not known, has ended or was revoked'
                  when t.setup <> v_asked.setup
                  then format('%s may not use setup %s', resource.shown(to_jsonb(t.name)), v_asked.setup)
             end as message,
             case when t.hash is null then 'Ask for a new one.'
                  when t.setup <> v_asked.setup then format('Its token is for setup %s.', t.setup) end as hint
        into v_found
        from (values (1)) one
        left join resource.access_token t on t.hash = decode(v_asked.token, 'hex') and t.expires_at > now();
    end if;
    n := v_asked.number;
    role_name := (select r.role_name from resource.installation_role r where r.kind = v_found.kind);
    subject := case when v_found.kind is not null
                    then jsonb_build_object('name', v_found.name, 'setup', v_asked.setup,
                                            'owner_group', v_found.owner_group, 'owner_dn', v_found.owner_dn)::text end;
    code := v_found.code;
    message := v_found.message;
    hint := v_found.hint;
    return next;
  end loop;
end $$;

comment on function resource.credentials_of(jsonb) is
  'For the service: the role and the identity with which the holders of tokens act in setups, one row for each element '
  'of [{setup, claims}, {setup, token}, {setup, session}]. claims are those of a verified token; token and session are '
  'the sha256, in hex, of an opaque token or of the cookie of a browser. subject is the value for the setting '
  'pgbroker.subject. A refused element has code (PB008, PB002), message and hint instead.';
