-- The types are checked here, since jsonb_populate_recordset would accept the number 5 as a text, and the text "5" as a
-- number.
create or replace function resource.check_rows(p_table regclass, p_rows jsonb) returns void
language plpgsql stable as $$
declare
  v_bad record;
begin
  if jsonb_typeof(p_rows) is distinct from 'array'
     or jsonb_path_exists(p_rows, 'strict $[*] ? (@.type() != "object")') then
    raise exception 'rows of % are not an array of objects', p_table
      using errcode = 'PB001', hint = 'Give [{"column": value, ...}, ...].';
  end if;
  select e.place, e.row, f.key, f.value, c.kind, col_description(p_table, c.place) as meaning,
         case when resource.suits(c.kind, f.value) then resource.too_long(f.key, f.value) end as most
    into v_bad
    from jsonb_array_elements(p_rows) with ordinality e(row, place)
   cross join jsonb_each(e.row) f(key, value)
    left join resource.table_column(p_table) c on c.name = f.key and c.given
   where c.name is null or not resource.suits(c.kind, f.value)
      or octet_length(f.value::text) > 300 and c.kind in ('a text', 'an array of texts')
         and resource.too_long(f.key, f.value) is not null
      or c.kind = 'a text' and resource.unprintable(f.value #>> '{}')
      or c.kind = 'an array of texts' and jsonb_typeof(f.value) = 'array'
         and exists (select from jsonb_array_elements_text(f.value) t where resource.unprintable(t))
   order by e.place, f.key limit 1;
  if not found then
    return;
  elsif v_bad.kind is null then
    raise exception '%: % is not known here', left(resource.row_name(p_table, v_bad.row, v_bad.place), 200),
      left(v_bad.key, 100)
      using errcode = 'PB001', hint = format('The keys are columns: %s.',
        (select string_agg(c.name, ', ' order by c.place) from resource.table_column(p_table) c where c.given));
  end if;
  raise exception '%: % is %, not %', left(resource.row_name(p_table, v_bad.row, v_bad.place), 200), v_bad.key,
    resource.shown(v_bad.value),
    v_bad.kind || coalesce(' of at most ' || v_bad.most || ' bytes',
                           case when resource.suits(v_bad.kind, v_bad.value)
                                then ' without control and format characters' end, '')
    using errcode = 'PB001',
          hint = concat(v_bad.key || ': ' || v_bad.meaning || ' ',
                        'A null value means not set; a key that is left out has its default.');
end $$;

comment on function resource.check_rows(regclass, jsonb) is
  'Refuses an array of objects with a key that is not a column of the table, a value of another type or length, or '
  'a text with a control or format character; the error names the row, the key and the value. Errors: PB001.';
