-- See ARCHITECTURE.md, Roles. The login, not the request, identifies an agent or submitter. A caller through the
-- service is bound to the setup of its credential, and to the owner and group that the credential names.
create or replace function resource.identify(p_setup text) returns resource.identity
language plpgsql stable as $$
declare
  v_identity resource.identity;
  v_subject resource.subject := resource.subject();
begin
  if exists (select from resource.setup_move m where m.setup = p_setup) then
    perform resource.require_here(p_setup);
  end if;
  if v_subject.setup <> p_setup then
    raise exception '% may not use setup %', resource.shown(to_jsonb(v_subject.name)), p_setup
      using errcode = 'PB002', hint = format('Its credential is for setup %s.', v_subject.setup);
  end if;
  select i.* into v_identity from resource.identity i where i.setup = p_setup and i.role_name = resource.caller();
  if not found then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null')
        using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    perform resource.require_short('setup', p_setup, 100);
    if v_subject.setup is null
       and pg_has_role(resource.caller(), (select r.role_name from resource.installation_role r
                                            where r.kind = 'operator'), 'usage') is not true then
      raise exception 'role % may not use setup %', resource.caller(), p_setup
        using errcode = 'PB002', hint = resource.hint_for_access(p_setup);
    end if;
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
  end if;
  if v_subject.owner_group is not null or v_subject.owner_dn is not null then
    v_identity.private := true;
    v_identity.owner_group := v_subject.owner_group;
    v_identity.owner_dn := v_subject.owner_dn;
  end if;
  return v_identity;
end $$;

comment on function resource.identify(text) is
  'The identity of the caller in a setup. Operators need no row and are generic in every setup. A caller through the '
  'service needs no row in the setup of its credential; the owner and group of the credential override those of the '
  'role. Errors: PB001 (no setup), PB002 (setup not granted), PB006 (the setup moves to another shard).';
