-- A login that may act as the owner can grant itself access; any other login asks an operator.
create or replace function resource.hint_for_access(p_setup text) returns text
language sql stable as $$
  select case
    when pg_has_role(resource.caller(), max(r.role_name) filter (where r.kind = 'owner'), 'member')
    then format('Operators may use every setup: grant %I to %I;', max(r.role_name) filter (where r.kind = 'operator'),
                resource.caller())
    else format('An operator grants it: broker identity grant %s --setup %s, or select resource.set_identity(%L, %L).',
                resource.caller(), p_setup, p_setup, resource.caller()) end
    from resource.installation_role r
$$;

comment on function resource.hint_for_access(text) is
  'The hint of PB002: how the calling login gets access to a setup that it may not use.';
