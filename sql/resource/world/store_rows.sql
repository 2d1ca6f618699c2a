-- World format. Table-driven, so that a column more is a revision more and no code. One statement for all rows; only when it fails are they tried
-- one by one, to name the one that is wrong.
create or replace function resource.store_rows(p_setup text, p_table regclass, p_rows jsonb, p_parents jsonb) returns bigint
language plpgsql
as $$
declare
  v_insert text;
  v_row record;
  v_stored bigint;
  v_error text;
begin
  perform resource.require_setup(p_setup);
  if p_parents is not null then
    perform resource.clear_rows(p_setup, p_table, p_parents);
  end if;
  if p_rows = '[]' then
    return 0;
  end if;
  perform resource.check_rows(p_table, p_rows);
  v_insert := resource.insert_text(p_table, p_rows);
  begin
    execute v_insert using p_setup, p_rows;
    get diagnostics v_stored = row_count;
    return v_stored;
  exception when data_exception or integrity_constraint_violation or cardinality_violation then
    v_error := sqlerrm;
  end;
  for v_row in select e.row, e.place, count(*) over (partition by resource.row_name(p_table, e.row, e.place)) as times
                 from jsonb_array_elements(p_rows) with ordinality e(row, place) order by e.place loop
    if v_row.times > 1 then
      raise exception '% stands here % times', resource.row_name(p_table, v_row.row, v_row.place), v_row.times using errcode = 'PB001', hint = 'Give each row once.';
    end if;
    begin
      execute v_insert using p_setup, jsonb_build_array(v_row.row);
    exception when data_exception or integrity_constraint_violation then
      get stacked diagnostics v_error = constraint_name;
      raise exception '%: %', resource.row_name(p_table, v_row.row, v_row.place), coalesce(resource.refusal(p_table, v_error, v_row.row), sqlerrm)
        using errcode = 'PB001', hint = 'What columns hold, and their units, is in their comments.';
    end;
  end loop;
  raise exception '%: %', p_table, v_error using errcode = 'PB001', hint = 'Look at the rows given.';
end $$;

comment on function resource.store_rows(text, regclass, jsonb, jsonb) is
'Upserts an array of objects (keys are columns) into a table, in place of the rows of the parents given; the work behind each room''s store. Errors: PB001.';
