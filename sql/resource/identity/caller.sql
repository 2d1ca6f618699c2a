-- Who calls: inside a SECURITY DEFINER function current_user is the owner, so the role that
-- was SET counts, else the login.
create or replace function resource.caller() returns text
language sql stable
as $$
  select coalesce(nullif(current_setting('role'), 'none'), session_user)
$$;

comment on function resource.caller() is
  'The database role that calls: the one that was SET, else the one that logged in.';
