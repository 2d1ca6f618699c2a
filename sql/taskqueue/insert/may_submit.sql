-- ARCHITECTURE.md, Roles: a private submitter submits only for its own group and owner.
create or replace function taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) returns void
language plpgsql stable as $$
begin
  if p_identity.private
     and (p_requirements ->> 'OwnerGroup' <> p_identity.owner_group
          or p_requirements ->> 'OwnerDN' <> p_identity.owner_dn) then
    raise exception 'role % may not submit for OwnerDN % in OwnerGroup %', p_identity.role_name,
      p_requirements ->> 'OwnerDN', p_requirements ->> 'OwnerGroup'
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'),
                                             coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

comment on function taskqueue.may_submit(resource.identity, jsonb) is
  'Refuses jobs that do not belong to the private submitter. Errors: PB002.';
