-- Whether the functions that decide are those of another time: a digest of their versions in the catalogue costs a
-- millisecond, and texts are compared only where it differs (brokerage.program_of).
create or replace function brokerage.program_digest(p_rules brokerage.profile_rule[]) returns text
language sql stable as $$
  select md5(string_agg(p.oid || ' ' || p.xmin::text, ',' order by p.oid))
    from pg_proc p
   where p.pronamespace in (select n.oid from pg_namespace n
                             where n.nspname in ('brokerage', 'resource', 'workload')
                                or n.nspname in (select split_part(r.function, '.', 1) from unnest(p_rules) r))
$$;

comment on function brokerage.program_digest(brokerage.profile_rule[]) is
  'A digest of the functions of the schemas that decide by some rules. It also changes where a function was made anew '
  'as it was.';
