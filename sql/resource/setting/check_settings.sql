-- Each column of a table setting is a setting: its type and its checks say which values are allowed, and its comment is
-- the hint of errors.
create or replace function resource.check_settings(p_table regclass, p_settings jsonb) returns jsonb
language plpgsql stable as $$
declare
  v_checked jsonb := jsonb '{}';
  v_given record;
  v_value jsonb;
  v_check text;
  v_fits boolean;
begin
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %, not a JSON object', coalesce(resource.shown(p_settings), 'null')
      using errcode = 'PB001', hint = resource.nearest_setting(p_table, '');
  end if;
  for v_given in
    select e.key, e.value, a.atttypid::regtype as type, a.attnotnull, a.attnum
      from jsonb_each(p_settings) e
      left join pg_attribute a on a.attrelid = p_table and a.attname = e.key
       and a.attnum > 0 and not a.attisdropped and a.attname <> 'setup'
     order by a.attnum nulls first, e.key
  loop
    if v_given.type is null then
      raise exception 'setting % is not known (its value is %)', left(v_given.key, 100), resource.shown(v_given.value)
        using errcode = 'PB001', hint = resource.nearest_setting(p_table, v_given.key);
    end if;
    v_value := case when v_given.value = 'null' and not v_given.attnotnull then v_given.value
                    else resource.setting_value(v_given.type, v_given.value) end;
    v_fits := v_value is not null;
    for v_check in
      select pg_get_expr(c.conbin, c.conrelid) from pg_constraint c
       where c.conrelid = p_table and c.contype = 'c' and c.conkey = array[v_given.attnum] and v_fits
    loop
      execute format('select $1 and (%s) is not false from jsonb_populate_record(null::%s, $2)', v_check, p_table)
        into v_fits using v_fits, jsonb_build_object(v_given.key, v_value);
    end loop;
    if not v_fits then
      raise exception 'invalid value % for setting %', resource.shown(v_given.value), v_given.key
        using errcode = 'PB001', hint = resource.setting_hint(p_table, v_given.key);
    end if;
    v_checked := v_checked || jsonb_build_object(v_given.key, v_value);
  end loop;
  return v_checked;
end $$;

comment on function resource.check_settings(regclass, jsonb) is
  'Checks an object of settings against the columns of a table setting and the checks on single columns, and returns '
  'the values as the columns take them. Intervals are texts or numbers of seconds. '
  'Errors: PB001, naming the key and the value.';
