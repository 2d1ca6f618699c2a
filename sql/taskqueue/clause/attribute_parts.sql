-- CLAUSES.md, Attributes: a value, a list of values and ranges one of which must be offered, or a range.
create or replace function taskqueue.attribute_parts(
  p_setup text, p_key text, p_name text, p_value jsonb, p_atom int
) returns taskqueue.clause_part[]
language plpgsql stable as $$
declare
  v_attribute taskqueue.attribute;
  v_parts taskqueue.clause_part[] := '{}'::taskqueue.clause_part[];
  v_part taskqueue.clause_part;
  v_item jsonb;
  v_fault text;
begin
  v_attribute := taskqueue.attribute_named(p_setup, p_key, p_name);
  v_part.atom := p_atom;
  v_part.kind := case when v_attribute.exclusive then v_attribute.type else 'many' end;
  v_part.name := p_name;
  v_part.absent := case when jsonb_typeof(v_attribute.absent) = 'object' then 'value'
                        else v_attribute.absent #>> '{}' end;
  if p_value = '[]' then
    return case when v_part.absent = 'passes' and v_part.kind <> 'many' then array[v_part] else '{}' end;
  elsif jsonb_typeof(p_value) <> 'array' then
    p_value := jsonb_build_array(p_value);
  elsif jsonb_array_length(p_value) > 64 then
    raise exception '%.% lists % values, at most 64', p_key, p_name, jsonb_array_length(p_value)
      using errcode = 'PB001', hint = 'Use ranges, or fewer values.';
  end if;
  for v_number in 0..jsonb_array_length(p_value) - 1 loop
    v_item := p_value -> v_number;
    v_part.value := null;
    v_part.low := null;
    v_part.high := null;
    v_part.above := false;
    v_part.below := false;
    if v_attribute.type = 'text' then
      v_fault := case when jsonb_typeof(v_item) <> 'string' or v_item = '""' then 'which is not a text' end;
      v_part.value := case when v_fault is null then taskqueue.one_text(p_key || '.' || p_name, v_item) end;
    elsif v_attribute.type = 'flag' then
      v_part.value := v_item #>> '{}';
      v_fault := case when jsonb_typeof(v_item) <> 'boolean' then 'not true or false' end;
    elsif jsonb_typeof(v_item) <> 'object' then
      v_part.low := taskqueue.value_order(v_attribute.type, v_item);
      v_part.high := v_part.low;
      v_fault := case when v_part.low is null then 'not a ' || v_attribute.type end;
    else
      v_item := jsonb_strip_nulls(v_item);
      v_part.above := v_item ? 'above';
      v_part.below := v_item ? 'below';
      v_part.low := taskqueue.value_order(v_attribute.type, coalesce(v_item -> 'min', v_item -> 'above'));
      v_part.high := taskqueue.value_order(v_attribute.type, coalesce(v_item -> 'max', v_item -> 'below'));
      v_fault := case
        when v_item - '{min,max,above,below}'::text[] <> '{}' then 'not a range of min, max, above and below'
        when v_item ?& '{min,above}' or v_item ?& '{max,below}' then 'a range with two bounds at one end'
        when v_item ?| '{min,above}' and v_part.low is null or v_item ?| '{max,below}' and v_part.high is null
        then format('a range whose bounds are not of the type %s', v_attribute.type)
        when v_part.low > v_part.high or v_part.low = v_part.high and (v_part.above or v_part.below)
             or v_attribute.type = 'version' and v_part.below and v_part.high = '{}'
        then 'an empty range: no value is within' end;
    end if;
    if v_fault is not null then
      raise exception '%.% is %, %', p_key, p_name, resource.shown(v_item), v_fault
        using errcode = 'PB001',
              hint = case when v_attribute.type in ('text', 'flag')
                          then format('%s takes a %s or a list of them.', p_name, v_attribute.type)
                          when v_attribute.type = 'version'
                          then format('%s takes a version, a range such as {"min": "2.30"}, or a list of them. A '
                                      'version is a text: the JSON numbers 2.30 and 2.3 would be equal.', p_name)
                          else format('%s takes a number, a range such as {"min": 1, "below": 4}, or a list of them.',
                                      p_name) end;
    end if;
    v_parts := v_parts || v_part;
  end loop;
  return v_parts;
end $$;

comment on function taskqueue.attribute_parts(text, text, text, jsonb, int) is
  'The demands on one attribute as parts of an atom, one of which must hold. p_key names the place in errors. '
  'Errors: PB001.';
