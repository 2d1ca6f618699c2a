create or replace function brokerage.weighs_terms(p_rule brokerage.profile_rule) returns boolean
language sql stable as $$
  select exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                  -- a look-up by key takes 0.1 ms instead of 5 ms
                  where n.nspname = (parse_ident(p_rule.function))[1] and p.proname = (parse_ident(p_rule.function))[2]
                    and p.prorettype = 'float8[]'::regtype)
$$;

comment on function brokerage.weighs_terms(brokerage.profile_rule) is
  'Whether a weight looks at the other candidates of a task: its function returns terms (float8[]).';
