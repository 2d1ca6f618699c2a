create or replace function brokerage.world_table(p_table text) returns regclass
language sql stable as $$
  select resource.table_of_world('brokerage', p_table, '{live_counter}')
$$;

comment on function brokerage.world_table(text) is
  'A table of the schema brokerage that worlds are loaded into and dumped from. Errors: PB001 (another table).';
