create or replace function resource.clear_rows(p_setup text, p_table regclass, p_parents jsonb) returns void
language plpgsql as $$
declare
  v_first record;
begin
  select c.name, c.type
    into v_first
    from resource.table_column(p_table) c
   where c.key_place is not null
   order by c.key_place
   limit 1;
  if p_parents = 'true' then
    execute format('delete from %s where setup = $1', p_table) using p_setup;
    return;
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
  'Deletes the rows of a table whose first key column is one of the values of a JSON array, or that have the values '
  'of one of its objects; true = all rows of the setup.';
