-- World format: loads rows into a table of this room.
create or replace function resource.store(
  p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false
) returns bigint
language plpgsql
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, resource.world_table(p_table), p_rows, p_parents, p_merge);
end $$;

comment on function resource.store(text, text, jsonb, jsonb, boolean) is
  'Upserts an array of objects into a table of the room resource and returns how many; keys are columns, one left out '
  'gets its default (p_merge: keeps what the row has that is there), null is null. Rows of p_parents (values of the '
  'first key column, or objects with it and others; true = all) are deleted first. Errors: PB001, PB002 (setup not '
  'granted).';
