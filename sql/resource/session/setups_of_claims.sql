create or replace function resource.setups_of_claims(p_claims jsonb) returns table (setup text, kind text)
language sql stable security definer set search_path = resource, pg_temp as $$
  select c.setup, o.kind
    from (select distinct d.setup from resource.credential d where d.issuer = p_claims ->> 'iss'
             and (d.setup = (select resource.bound_setup())) is not false) c
   cross join lateral resource.credential_of(c.setup, p_claims) o
   where o.kind is not null
   order by c.setup
$$;

comment on function resource.setups_of_claims(jsonb) is
  'The setups in which the holder of verified claims may act now, each with the role: agent, submitter, operator or '
  'viewer. A caller through the service is told of its own setup alone.';
