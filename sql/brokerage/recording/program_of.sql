create or replace function brokerage.program_of(p_schemas text[]) returns jsonb
language sql stable as $$
  select jsonb_object_agg(format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
                          md5(pg_get_functiondef(p.oid)))
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where p.prokind in ('f', 'p') and n.nspname = any (p_schemas)
$$;

comment on function brokerage.program_of(text[]) is
  'The functions of some schemas, each with a digest of its definition.';
