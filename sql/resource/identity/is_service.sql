create or replace function resource.is_service() returns boolean
language sql stable parallel safe security definer set search_path = resource, pg_temp as $$
  select session_user = (select r.role_name from resource.installation_role r where r.kind = 'service')
$$;

comment on function resource.is_service() is 'Whether this is a session of the service (broker serve).';
