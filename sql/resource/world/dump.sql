-- World format: the rows of a table of this room as resource.store takes them.
create or replace function resource.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, resource.world_table(p_table));
end $$;

comment on function resource.dump(text, text) is
  'The rows of a table of the room resource as objects, in key order and without defaults; what resource.store takes. '
  'Errors: PB001, PB002 (setup not granted).';
