create or replace function resource.clear_identity(p_setup text, p_role_name text) returns boolean
language sql security definer set search_path = resource, pg_temp as $$
  with gone as (delete from resource.identity where setup = p_setup and role_name = p_role_name returning 1)
  select exists (select from gone)
$$;

comment on function resource.clear_identity(text, text) is
  'Takes the use of a setup away from a database role; returns false if the role had none.';
