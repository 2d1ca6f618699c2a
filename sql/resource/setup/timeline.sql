-- PostgreSQL counts a timeline for each promotion of a standby and each restore to a point in time.
create or replace function resource.timeline() returns int
language plpgsql stable as $$
begin
  return ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int;
exception when feature_not_supported or object_not_in_prerequisite_state or insufficient_privilege then
  return 1;  -- the database service hides its WAL
end $$;

comment on function resource.timeline() is
  'The timeline of the server, counted from 1: each promotion of a standby or restore to a point in time adds one.';
