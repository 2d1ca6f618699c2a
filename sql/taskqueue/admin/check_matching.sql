-- Compares every structure that is derived for speed with the tables that it is derived from. One statement calls all
-- parts, so they read one snapshot and are exact under load.
create or replace function taskqueue.check_matching(p_setup text)
returns table (structure text, key text, expected text, found text)
language plpgsql stable security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  return query
    select * from taskqueue.check_definitions(p_setup)
    union all
    select * from taskqueue.check_postings(p_setup)
    union all
    select * from taskqueue.check_counts(p_setup)
    union all
    select * from taskqueue.check_limits(p_setup);
end $$;

comment on function taskqueue.check_matching(text) is
  'Differences between the derived data that matching reads (definitions, postings, counts, weights of owners, limit '
  'slots) and the tables from which it is derived. No row means that everything is right. The call is one statement, '
  'so it is exact under load. Errors: PB002 (setup not granted).';
