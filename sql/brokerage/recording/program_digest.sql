-- Whether the functions that decide are those of another time: a digest of their versions in the catalogue costs a
-- millisecond, and texts are compared only where it differs (brokerage.program_of).
create or replace function brokerage.program_digest(p_schemas text[]) returns text
language sql stable as $$
  select md5(string_agg(p.oid || ' ' || p.xmin::text, ',' order by p.oid))
    from pg_proc p
   where p.pronamespace in (select n.oid from pg_namespace n where n.nspname = any (p_schemas))
$$;

comment on function brokerage.program_digest(text[]) is
  'A digest of the functions of some schemas. It also changes where a function was made anew as it was.';
