create or replace function brokerage.program_of(p_rules brokerage.profile_rule[]) returns jsonb
language sql stable as $$
  select jsonb_object_agg(format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)),
                          md5(pg_get_functiondef(p.oid)))
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where p.prokind in ('f', 'p')
     and (n.nspname in ('brokerage', 'resource', 'workload')
          or n.nspname in (select split_part(r.function, '.', 1) from unnest(p_rules) r))
$$;

comment on function brokerage.program_of(brokerage.profile_rule[]) is
  'The functions of the schemas that decide by some rules, each with a digest of its definition.';
