create or replace function resource.refuse_rows(
  p_setup text, p_table regclass, p_rows jsonb, p_merge boolean, p_error text
) returns void
language plpgsql as $$
declare
  v_row record;
  v_constraint text;
  v_column text;
  v_refusal record;
  v_name text;
begin
  for v_row in select e.row, e.place, count(*) over (partition by resource.row_name(p_table, e.row, e.place)) as times
                 from jsonb_array_elements(p_rows) with ordinality e(row, place) order by e.place loop
    v_name := left(resource.row_name(p_table, v_row.row, v_row.place), 200);
    if v_row.times > 1 then
      raise exception '% is given % times', v_name, v_row.times
        using errcode = 'PB001', hint = 'Give each row once.';
    end if;
    begin
      execute resource.insert_text(p_table, jsonb_build_array(v_row.row), p_merge)
        using p_setup, jsonb_build_array(v_row.row);
    exception when data_exception or integrity_constraint_violation then
      get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
      select * into v_refusal from resource.refusal(p_table, v_constraint, v_column, v_row.row);
      raise exception '%: %', v_name, coalesce(v_refusal.reason, sqlerrm)
        using errcode = 'PB001',
              hint = coalesce(v_refusal.meaning, 'The comments of the columns give meanings and units.');
    end;
  end loop;
  raise exception '%: %', p_table, p_error using errcode = 'PB001', hint = 'Check the rows.';
end $$;

comment on function resource.refuse_rows(text, regclass, jsonb, boolean, text) is
  'Raises the error of the first row of an array that cannot be stored, naming the row, the key, the value and the '
  'allowed values. If no single row is refused, it raises the given error. Errors: PB001.';
