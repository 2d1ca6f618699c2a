create or replace function resource.change_settings(p_table regclass, p_setup text, p_settings jsonb) returns void
language plpgsql as $$
declare
  v_checked jsonb := resource.check_settings(p_table, p_settings);
  v_columns text := (select string_agg(format('%I', k.key), ', ') from jsonb_object_keys(v_checked) k(key));
begin
  execute format('insert into %s (setup) values ($1) on conflict do nothing', p_table) using p_setup;
  if v_columns is not null then
    execute format('update %s s set (%s) = (select %s from jsonb_populate_record(null::%s, $2)) where s.setup = $1',
                   p_table, v_columns, v_columns, p_table)
      using p_setup, v_checked;
  end if;
end $$;

comment on function resource.change_settings(regclass, text, jsonb) is
  'Changes settings of a setup in the table setting of a schema, all of them or none; settings that are not given keep '
  'their values. Errors: PB001, naming the key and the value.';
