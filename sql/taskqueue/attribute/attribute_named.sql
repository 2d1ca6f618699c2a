create or replace function taskqueue.attribute_named(p_setup text, p_key text, p_name text)
returns taskqueue.attribute
language plpgsql stable as $$
declare
  v_attribute taskqueue.attribute;
begin
  select a.* into v_attribute from taskqueue.attribute a where a.setup = p_setup and a.name = p_name;
  if not found then
    raise exception '% names the attribute %, which the setup does not have', p_key, resource.shown(to_jsonb(p_name))
      using errcode = 'PB001',
            hint = (select concat('The nearest is ' || resource.nearest_name(p_name, array_agg(a.name)) || '. ',
                                  coalesce('It has ' || string_agg(a.name, ', ' order by a.name), 'It has none'),
                                  '. An operator configures them: `broker setup attributes`, or '
                                  'taskqueue.set_attributes.')
                      from taskqueue.attribute a where a.setup = p_setup);
  end if;
  return v_attribute;
end $$;

comment on function taskqueue.attribute_named(text, text, text) is
  'The attribute of this name, which a key names. Errors: PB001, with the nearest name.';
