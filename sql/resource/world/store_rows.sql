-- See worlds.md, Loading. Columns come from the catalogue, so a new column needs no code. One statement stores all rows
-- (p_merge: all rows with the same keys). Only if that statement fails are the rows tried one by one, to name the wrong
-- row.
create or replace function resource.store_rows(
  p_setup text, p_table regclass, p_rows jsonb, p_parents jsonb, p_merge boolean default false
) returns bigint
language plpgsql as $$
declare
  v_merge boolean := p_merge and not exists (select from resource.table_column(p_table) c where not c.given);
  v_stored bigint := 0;
  v_some bigint;
  v_rows jsonb;
  v_keys text;
  v_repeated boolean;
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  if p_parents is not null then
    perform resource.clear_rows(p_setup, p_table, p_parents);
  end if;
  if p_rows = '[]' then
    return 0;
  end if;
  perform resource.check_rows(p_table, p_rows);
  if v_merge then
    select string_agg(format('e.row -> %L', c.name), ', ')
      into v_keys
      from resource.table_column(p_table) c
     where c.key_place is not null;
    execute format('select count(*) > count(distinct (%s)) from jsonb_array_elements($1) e(row)', v_keys)
      into v_repeated using p_rows;
    if v_repeated then
      perform resource.refuse_rows(p_setup, p_table, p_rows, v_merge, 'a row is given twice');
    end if;
  end if;
  for v_rows in select p_rows where not v_merge
                union all
                select jsonb_agg(e.row order by e.place)
                  from jsonb_array_elements(p_rows) with ordinality e(row, place)
                 where v_merge
                 group by array(select k.name from jsonb_object_keys(e.row) k(name) order by 1) loop
    begin
      execute resource.insert_text(p_table, v_rows, v_merge) using p_setup, v_rows;
      get diagnostics v_some = row_count;
      v_stored := v_stored + v_some;
    exception when data_exception or integrity_constraint_violation or cardinality_violation then
      perform resource.refuse_rows(p_setup, p_table, p_rows, v_merge, sqlerrm);
    end;
  end loop;
  return v_stored;
end $$;

comment on function resource.store_rows(text, regclass, jsonb, jsonb, boolean) is
  'Upserts an array of objects (keys are columns) into a table, in place of the rows of the given parents. With '
  'p_merge, an existing row keeps the values that are not given. The store functions of all schemas call it. Errors: '
  'PB001, PB002 (setup not granted).';
