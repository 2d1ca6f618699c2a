-- Names are looked up in the catalogue and quoted, so no text of a timeout becomes SQL. A condition runs as the owner
-- of pgbroker, so a function is called only if its owner can act as that role anyway.
create or replace function lifecycle.condition_call(p_rule text, p_function text) returns text
language plpgsql stable as $$
declare
  v_parts text[];
  v_function record;
begin
  begin
    v_parts := parse_ident(p_function);
  exception when invalid_parameter_value then
    v_parts := '{}';
  end;
  select p.oid, p.prorettype, p.provolatile, n.oid as schema_oid, n.nspname, p.proname,
         pg_has_role(p.proowner, (select r.role_name from resource.installation_role r where r.kind = 'owner'),
                     'member') as is_trusted
    into v_function
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where n.nspname = v_parts[1] and p.proname = v_parts[2] and cardinality(v_parts) = 2
     and p.proargtypes::text = 'lifecycle.timeout_facts'::regtype::oid::text;
  if not found or v_function.prorettype <> 'text'::regtype or v_function.provolatile = 'v' then
    raise exception 'timeout %: % is not a condition', p_rule, coalesce(quote_literal(p_function), 'null')
      using errcode = 'PB001',
            hint = 'Name the schema and the function: it takes lifecycle.timeout_facts, returns text and is stable. '
                   'The shipped ones are lifecycle.condition_*.';
  elsif not v_function.is_trusted then
    raise exception 'timeout %: the owner of % is not a member of the role that owns pgbroker', p_rule, p_function
      using errcode = 'PB002', hint = 'A condition runs with the rights of that role: let a DBA own the function.';
  elsif not has_schema_privilege(v_function.schema_oid, 'usage')
        or not has_function_privilege(v_function.oid, 'execute') then
    raise exception 'timeout %: % may not call %', p_rule, current_user, p_function
      using errcode = 'PB002',
            hint = format('The owner of the function runs: grant usage on schema %I to %I; '
                          'grant execute on function %s to %I.',
                          v_function.nspname, current_user, v_function.oid::regprocedure, current_user);
  end if;
  return format('%I.%I', v_function.nspname, v_function.proname);
end $$;

comment on function lifecycle.condition_call(text, text) is
  'The quoted name of the function of a condition. Errors: PB001 (no such function), PB002 (its owner is not trusted, '
  'or it may not be called).';
