create or replace function resource.row_name(p_table regclass, p_row jsonb, p_place bigint) returns text
language sql stable as $$
  select (select c.relname from pg_class c where c.oid = p_table) || ' '
         || coalesce((select string_agg(p_row ->> c.name, ', ' order by c.key_place)
                        from resource.table_column(p_table) c where c.key_place is not null and c.given),
                     'number ' || p_place)
$$;

comment on function resource.row_name(regclass, jsonb, bigint) is
  'The name of a row of a JSON array in errors: its table and key, or its position if the key is an identity column or '
  'is missing.';
