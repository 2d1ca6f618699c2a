create or replace function resource.table_of_world(p_schema text, p_table text, p_tables text[]) returns regclass
language plpgsql stable as $$
begin
  if p_table = any (p_tables) then
    return format('%I.%I', p_schema, p_table)::regclass;
  end if;
  raise exception 'the world format has no table % of the schema %', coalesce(quote_literal(p_table), 'null'), p_schema
    using errcode = 'PB001', hint = format('Tables of %s: %s.', p_schema, array_to_string(p_tables, ', '));
end $$;

comment on function resource.table_of_world(text, text, text[]) is
  'The table of that name in a schema, if it is one of the tables that worlds are loaded into and dumped from '
  '(p_tables). No other table is written by name. Errors: PB001 (another table).';
