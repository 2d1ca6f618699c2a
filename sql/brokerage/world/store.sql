create or replace function brokerage.store(
  p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false
) returns bigint
language sql security definer set search_path = brokerage, pg_temp as $$
  select resource.store_rows(p_setup, brokerage.world_table(p_table), p_rows, p_parents, p_merge)
$$;

comment on function brokerage.store(text, text, jsonb, jsonb, boolean) is
  'Upserts an array of objects into a table of the schema brokerage, and returns the number of rows stored. Keys are '
  'columns. A key that is left out gets the default of the column; with p_merge it keeps its value in an existing row. '
  'A null value is stored as null. The rows of p_parents (values of the first key column, or objects with that and '
  'other columns; true = all rows) are deleted first. Errors: PB001 (a row is wrong), PB002 (setup not granted).';
