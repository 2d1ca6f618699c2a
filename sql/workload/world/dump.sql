-- World format: the rows of a table of this room as workload.store takes them.
create or replace function workload.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable
security definer set search_path = workload, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, workload.world_table(p_table));
end $$;

comment on function workload.dump(text, text) is
  'The rows of a table of the room workload as objects, in key order and without defaults; what workload.store takes. '
  'Errors: PB001, PB002 (setup not granted).';
