-- Names in the call of a rule are looked up in the catalogue and quoted, so no text of a profile becomes SQL. A rule
-- runs as the owner of the installation. Therefore only functions of superusers and of members of that role are
-- allowed, who could act as the owner anyway.
create or replace function brokerage.rule_call(p_rule brokerage.profile_rule, p_facts text) returns text
language plpgsql stable as $$
declare
  v_parts text[] := parse_ident(p_rule.function);
  v_facts int := case when p_rule.kind in ('task rule', 'second pass') then 1 else 3 end;
  v_types text := concat_ws(' ', 'brokerage.task_facts'::regtype::oid,
                            case when v_facts = 3 then 'brokerage.queue_facts'::regtype::oid end,
                            case when v_facts = 3 then 'brokerage.pair_facts'::regtype::oid end);
  v_result regtype := case when p_rule.kind in ('weight', 'choice', 'distribution') then 'float8'::regtype
                           else 'text'::regtype end;
  v_function record;
begin
  select p.oid, p.pronargs, p.prorettype, p.prosecdef, p.proconfig, p.provolatile, n.nspname, p.proname,
         pg_has_role(p.proowner, (select r.role_name from resource.installation_role r where r.kind = 'owner'),
                     'member') as is_trusted
    into v_function
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where n.nspname = v_parts[1] and p.proname = v_parts[2]
     and p.proargtypes::text in (v_types, concat_ws(' ', v_types, 'jsonb'::regtype::oid))
   order by p.pronargs desc limit 1;
  if not found or cardinality(v_parts) <> 2 then
    raise exception 'rule % of profile %: there is no function % that takes %', p_rule.rule, p_rule.profile,
      coalesce(p_rule.function, 'null'),
                    case v_facts when 1 then 'task_facts' else 'task_facts, queue_facts and pair_facts' end
      using errcode = 'PB001',
            hint = 'Name the schema and the function; a further argument of type jsonb receives the parameters.';
  end if;
  if v_function.prorettype <> v_result
     and not (p_rule.kind = 'weight' and v_function.prorettype = 'float8[]'::regtype) then
    raise exception 'rule % of profile %: % returns %, a % returns %', p_rule.rule, p_rule.profile, p_rule.function,
      v_function.prorettype::regtype, p_rule.kind, v_result
      using errcode = 'PB001',
            hint = 'A rule returns text (null accepts). A weight, the value of a choice and a number of distribution '
                   'are float8. A weight that looks at the other candidates returns its terms, float8[].';
  end if;
  if not v_function.is_trusted then
    raise exception 'rule % of profile %: the owner of % is not a member of the role that owns pgbroker', p_rule.rule,
      p_rule.profile, p_rule.function
      using errcode = 'PB002', hint = 'A rule runs with the rights of that role: give the function to a DBA.';
  end if;
  if not has_schema_privilege(v_function.nspname, 'usage') or not has_function_privilege(v_function.oid, 'execute') then
    raise exception 'rule % of profile %: % may not call %', p_rule.rule, p_rule.profile, current_user, p_rule.function
      using errcode = 'PB002',
            hint = format('As its owner: grant usage on schema %I to %I; grant execute on function %s to %I.',
                          v_function.nspname, current_user, v_function.oid::regprocedure, current_user);
  end if;
  return format('%I.%I(%s%s)', v_function.nspname, v_function.proname, p_facts,
                case when v_function.pronargs > v_facts then format(', %L::jsonb', p_rule.parameters) else '' end);
end $$;

comment on function brokerage.rule_call(brokerage.profile_rule, text) is
  'SQL that calls the function of a rule on facts; a further argument of type jsonb receives the parameters of the '
  'rule. Errors: PB001 (no such function, or another type), PB002 (the owner of the function is not trusted, or the '
  'function may not be called).';
