-- See SERVICE.md, Subjects. A view compares its setup with this function in a scalar subquery, which is evaluated once
-- per query.
create or replace function resource.bound_setup() returns text
language sql stable parallel safe security definer set search_path = resource, pg_temp as $$
  select (resource.subject()).setup
$$;

comment on function resource.bound_setup() is
  'The setup of the credential with which the caller uses the service, the only setup that views show; null = the '
  'caller is a login of the database, which sees all setups.';
