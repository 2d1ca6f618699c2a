-- ARCHITECTURE.md, Roles: the login says who an agent or submitter is, not the request.
create or replace function resource.identify(p_setup text) returns resource.identity
language plpgsql stable as $$
declare
  v_identity resource.identity;
begin
  select i.* into v_identity from resource.identity i where i.setup = p_setup and i.role_name = resource.caller();
  if not found then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null')
        using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    perform resource.require_short('setup', p_setup, 100);
    if pg_has_role(resource.caller(), (select r.role_name from resource.installation_role r where r.kind = 'operator'),
                   'member') is not true then
      raise exception 'role % may not use setup %', resource.caller(), p_setup
        using errcode = 'PB002', hint = resource.way_in(p_setup);
    end if;
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
  end if;
  return v_identity;
end $$;

comment on function resource.identify(text) is
  'The identity of the caller in a setup. Operators need no row and are generic in every setup. Errors: PB001 (no '
  'setup), PB002 (setup not granted).';
