create or replace function workload.dump(p_setup text, p_table text) returns setof jsonb
language sql stable security definer set search_path = workload, pg_temp as $$
  select resource.dump_rows(p_setup, workload.world_table(p_table))
$$;

comment on function workload.dump(text, text) is
  'The rows of a table of the schema workload as objects, in the order of the key and without defaults, as '
  'workload.store takes them. Errors: PB001 (no such table), PB002 (setup not granted).';
