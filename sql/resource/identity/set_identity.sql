create or replace function resource.set_identity(
  p_setup text, p_role_name text, p_private boolean default false, p_owner_group text default null,
  p_owner_dn text default null
) returns void
language plpgsql security definer set search_path = resource, pg_temp as $$
declare
  v_nearest text;
begin
  perform resource.identify(p_setup);
  if p_owner_group = '' or p_owner_dn = '' then
    raise exception 'owner group is % and owner is %: an empty text names nobody',
      coalesce(quote_literal(p_owner_group), 'null'), coalesce(quote_literal(p_owner_dn), 'null')
      using errcode = 'PB001', hint = 'Name an owner group or an owner, or give null for neither.';
  end if;
  if p_private is distinct from (p_owner_group is not null or p_owner_dn is not null) then
    raise exception 'identity of % is %, but its owner group is % and its owner is %', p_role_name,
          case when p_private then 'private' else 'generic' end, coalesce(p_owner_group, 'not given'),
      coalesce(p_owner_dn, 'not given')
      using errcode = 'PB001',
            hint = 'A private identity names an owner group or an owner (or both), a generic one neither.';
  end if;
  if p_role_name is null or p_role_name = '' then
    raise exception 'role name is %', coalesce(quote_literal(p_role_name), 'null')
      using errcode = 'PB001', hint = 'Name the database role that the agent or submitter logs in with.';
  end if;
  perform resource.require_short('role name', p_role_name, 63);
  perform resource.require_short('owner group', p_owner_group);
  perform resource.require_short('owner', p_owner_dn);
  perform resource.require_setup(p_setup);
  if not exists (select from pg_roles r where r.rolname = p_role_name) then
    v_nearest := resource.nearest_name(p_role_name, (select array_agg(r.rolname::text) from pg_roles r));
    raise exception 'the server has no role %', p_role_name
      using errcode = 'PB004',
            hint = case when v_nearest is null then 'Create the login first.'
                        else format('The nearest is %s; a new login is created first.', v_nearest) end;
  end if;
  insert into resource.identity (setup, role_name, private, owner_group, owner_dn)
  values (p_setup, p_role_name, p_private, p_owner_group, p_owner_dn)
  on conflict (setup, role_name) do update
     set private = excluded.private, owner_group = excluded.owner_group, owner_dn = excluded.owner_dn;
end $$;

comment on function resource.set_identity(text, text, boolean, text, text) is
  'Grants a database role the use of a setup: generic, or private to an owner group, an owner, or both. A role that '
  'does not exist is refused, so the login is created first. Errors: PB001, PB002 (setup not granted), PB004 (no such '
  'role).';
