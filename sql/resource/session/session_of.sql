create or replace function resource.session_of(p_session text)
returns table (subject text, expires_at timestamptz, setups jsonb)
language sql stable security definer set search_path = resource, pg_temp as $$
  select s.subject, s.expires_at,
         coalesce((select jsonb_agg(jsonb_build_object('setup', r.setup, 'kind', r.kind) order by r.setup)
                     from (select c.setup, c.kind from resource.setups_of_claims(s.claims) c
                            union all
                           select t.setup, s.kind from resource.setup t
                            where s.kind is not null and (s.setup is null or t.setup = s.setup)) r), '[]')
    from resource.browser_session s
   where s.hash = decode(p_session, 'hex') and s.expires_at > now()
$$;

comment on function resource.session_of(text) is
  'For the service: the person whose session has this sha256, in hex; the end of the session; and a list of {setup, '
  'kind} with the setups and roles in which the person may act now. There is no row if the session is not known, has '
  'ended or was revoked.';
