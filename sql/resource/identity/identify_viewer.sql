create or replace function resource.identify_viewer(p_setup text) returns resource.identity
language plpgsql stable as $$
declare
  v_identity resource.identity;
begin
  if p_setup <> '' and octet_length(p_setup) <= 100
     and pg_has_role(resource.caller(), (select r.role_name from resource.installation_role r where r.kind = 'viewer'),
                     'usage')
     and (resource.subject()).setup is null then
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
    return v_identity;
  end if;
  return resource.identify(p_setup);
end $$;

comment on function resource.identify_viewer(text) is
  'The identity of the caller for calls that change nothing. Viewers and operators are generic in every setup; through '
  'the service they are generic in the setup of their credential. Errors: PB001 (no setup), PB002 (setup not granted).';
