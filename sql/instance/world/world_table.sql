create or replace function instance.world_table(p_table text) returns regclass
language sql stable as $$
  select resource.table_of_world('instance', p_table, '{instance,step}')
$$;

comment on function instance.world_table(text) is
  'A table of the schema instance that worlds are loaded into and dumped from. Errors: PB001 (another '
  'table).';
