-- CLAUSES.md, Values: the type of the attribute decides, never the form of the value.
create or replace function taskqueue.attribute_value(p_attribute taskqueue.attribute, p_value jsonb) returns jsonb
language plpgsql immutable as $$
declare
  v_kind text := jsonb_typeof(p_value);
  v_text text := p_value #>> '{}';
  v_order numeric[] := taskqueue.value_order(p_attribute.type, p_value);
begin
  case p_attribute.type
    when 'number' then
      if v_order is not null then
        return to_jsonb(v_order[1]);
      end if;
    when 'version' then
      if v_order is not null then
        return to_jsonb(coalesce(nullif(array_to_string(v_order, '.'), ''), '0'));
      end if;
    when 'flag' then
      if v_kind = 'boolean' or v_kind = 'string' and v_text in ('true', 'false') then
        return to_jsonb(v_text::boolean);
      end if;
    else
      if v_kind = 'string' and v_text <> '' then
        return to_jsonb(taskqueue.one_text('attribute ' || p_attribute.name, p_value));
      end if;
  end case;
  raise exception 'attribute % is %, which is not a %', p_attribute.name, resource.shown(p_value), p_attribute.type
    using errcode = 'PB001',
          hint = case p_attribute.type when 'number' then 'Give a number, or its text.'
                                       when 'version' then 'Give a text of numbers and dots, such as "2.30". '
                                                           'The JSON numbers 2.30 and 2.3 would be equal.'
                                       when 'flag' then 'Give true or false.' else 'Give a text.' end;
end $$;

comment on function taskqueue.attribute_value(taskqueue.attribute, jsonb) is
  'A value of an attribute in its shortest form: a number, the text of a version, a text, true or false. Errors: '
  'PB001.';
