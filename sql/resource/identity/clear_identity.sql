create or replace function resource.clear_identity(p_setup text, p_role_name text) returns boolean
language plpgsql security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify(p_setup);
  delete from resource.identity where setup = p_setup and role_name = p_role_name;
  return found;
end $$;

comment on function resource.clear_identity(text, text) is
  'Withdraws the use of a setup from a database role; returns false if the role had none. Errors: PB001 (no setup), '
  'PB002 (setup not granted).';
