-- The function is the same in all releases, so an old program can call it on a new database. Roles that see no table
-- may call it.
create or replace function resource.installed_release(out release text, out revision text)
language sql stable security definer set search_path = resource, pg_temp as $$
  select h.release, v.version_num from resource.installation h cross join resource.alembic_version v
$$;

comment on function resource.installed_release() is
  'Release and revision of pgbroker in this database. A program refuses to work with a database newer than itself.';
