create or replace function resource.dump(p_setup text, p_table text) returns setof jsonb
language sql stable security definer set search_path = resource, pg_temp as $$
  select resource.dump_rows(p_setup, resource.world_table(p_table))
$$;

comment on function resource.dump(text, text) is
  'The rows of a table of the schema resource as objects, in the order of the key and without defaults, as '
  'resource.store takes them. Errors: PB001 (no such table), PB002 (setup not granted).';
