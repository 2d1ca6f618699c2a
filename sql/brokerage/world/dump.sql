-- World format: the rows of a table of this room as brokerage.store takes them.
create or replace function brokerage.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, brokerage.world_table(p_table));
end $$;

comment on function brokerage.dump(text, text) is
'The rows of a table of the room brokerage as objects, in key order and without defaults; what brokerage.store takes. Errors: PB001, PB002 (setup not granted).';
