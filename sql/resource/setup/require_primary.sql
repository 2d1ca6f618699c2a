-- Without this check a call on a standby may end when PostgreSQL plans a query of an unlogged table, with an error
-- (0A000) that names no remedy.
create or replace function resource.require_primary() returns void
language plpgsql as $$
begin
  if pg_is_in_recovery() then
    raise exception 'this server is a standby, which takes no changes'
      using errcode = '25006',
            hint = 'Connect to the primary: among several hosts target_session_attrs=read-write finds it.';
  end if;
end $$;

comment on function resource.require_primary() is
  'Refuses, on a standby, a call that changes something. Errors: 25006.';
