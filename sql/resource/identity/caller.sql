-- Inside a SECURITY DEFINER function current_user is the owner of the function.
create or replace function resource.caller() returns text
language sql stable as $$
  select coalesce(nullif(current_setting('role'), 'none'), session_user)
$$;

comment on function resource.caller() is 'The database role of the caller: the role of SET ROLE, else the login.';
