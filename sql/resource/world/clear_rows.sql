-- Rows of parents: those whose first key column is one of the values. All of the setup where no values are given.
create or replace function resource.clear_rows(p_setup text, p_table regclass, p_parents jsonb) returns void
language plpgsql
as $$
declare
  v_first record;
begin
  select c.name, c.type into v_first from resource.table_column(p_table) c where c.key_place is not null order by c.key_place limit 1;
  if p_parents = 'true' then
    execute format('delete from %s where setup = $1', p_table) using p_setup;
  else
    execute format('delete from %s where setup = $1 and %I = any (array(select jsonb_array_elements_text($2)::%s))', p_table, v_first.name, v_first.type)
      using p_setup, p_parents;
  end if;
end $$;

comment on function resource.clear_rows(text, regclass, jsonb) is
'Deletes the rows of a table whose first key column is one of the values of a JSON array; true = all rows of the setup.';
