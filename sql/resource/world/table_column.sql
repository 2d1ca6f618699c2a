create or replace function resource.table_column(p_table regclass)
returns table (name text, place int, kind text, type text, default_text text, key_place int, given boolean)
language sql stable as $$
  select a.attname::text, a.attnum::int,
         case when t.typcategory = 'N' and t.typname like 'int%' then format('an integer of %s bits', 8 * t.typlen)
              when t.typcategory = 'N' then 'a number'
              when t.typcategory = 'B' then 'true or false'
              when t.typcategory = 'A' then 'an array of texts'
              when t.typname = 'jsonb' then 'JSON'
              when t.typcategory = 'D' then 'a time'
              else 'a text' end,
         format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid),
         array_position(i.indkey::int[], a.attnum::int), a.attidentity = ''
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
   where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attname <> 'setup'
   order by a.attnum
$$;

comment on function resource.table_column(regclass) is
  'Columns of a table, except the setup: the kind in words, the type, the default as an expression, the place in the '
  'key, and whether rows may give a value (false for an identity column).';
