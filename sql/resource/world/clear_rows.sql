create or replace function resource.clear_rows(p_setup text, p_table regclass, p_parents jsonb) returns void
language plpgsql as $$
declare
  v_first record;
  v_bad record;
begin
  if jsonb_typeof(p_parents) = 'null' then
    return;
  elsif jsonb_typeof(p_parents) <> 'array' and p_parents <> 'true' then
    raise exception 'parents of % are %, not an array or true', p_table, resource.shown(p_parents)
      using errcode = 'PB001', hint = 'Give values of the first key column, or objects with it; true = all rows.';
  end if;
  select c.name, c.type, c.kind
    into v_first
    from resource.table_column(p_table) c
   where c.key_place is not null
   order by c.key_place
   limit 1;
  if p_parents = 'true' then
    execute format('delete from %s where setup = $1', p_table) using p_setup;
    return;
  end if;
  select p.value into v_bad
    from jsonb_array_elements(p_parents) p
   where not resource.suits(v_first.kind,
                            case jsonb_typeof(p.value) when 'object' then p.value -> v_first.name else p.value end)
   limit 1;
  if found then
    raise exception 'parent % of % is not %', resource.shown(v_bad.value), p_table, v_first.kind
      using errcode = 'PB001', hint = format('Give values of %s, or objects with it.', v_first.name);
  end if;
  execute format('delete from %s where setup = $1 and %I = any (array(select (p.value #>> ''{}'')::%s '
                 'from jsonb_array_elements($2) p where jsonb_typeof(p.value) <> ''object''))',
                 p_table, v_first.name, v_first.type)
    using p_setup, p_parents;
  if jsonb_path_exists(p_parents, '$[*] ? (@.type() == "object")') then
    execute format('delete from %1$s t using jsonb_array_elements($2) p where t.setup = $1 and jsonb_typeof(p.value) '
                   '= ''object'' and t.%2$I = (p.value ->> %2$L)::%3$s and to_jsonb(t) @> p.value',
                   p_table, v_first.name, v_first.type)
      using p_setup, p_parents;
  end if;
end $$;

comment on function resource.clear_rows(text, regclass, jsonb) is
  'Deletes the rows of a table whose first key column is one of the values of a JSON array, or whose columns have the '
  'values of one of its objects. True in place of the array deletes all rows of the setup.';
