-- The digest shows whether the functions that decide have changed. It is computed from their versions in the catalogue
-- within a millisecond. Texts are compared only if it differs (brokerage.program_of).
create or replace function brokerage.program_digest(p_schemas text[]) returns text
language sql stable as $$
  select md5(string_agg(p.oid || ' ' || p.xmin::text, ',' order by p.oid))
    from pg_proc p
   where p.pronamespace in (select n.oid from pg_namespace n where n.nspname = any (p_schemas))
$$;

comment on function brokerage.program_digest(text[]) is
  'A digest of the functions of some schemas. It also changes if a function was replaced by an identical one.';
