-- CLAUSES.md, Values.
create or replace function taskqueue.offered_value(p_attribute taskqueue.attribute, p_value jsonb) returns jsonb
language plpgsql immutable as $$
declare
  v_value jsonb := p_value;
begin
  if p_attribute.type <> 'text' then
    return taskqueue.attribute_value(p_attribute, p_value);
  elsif jsonb_typeof(p_value) <> 'array' then
    v_value := jsonb_build_array(p_value);
  elsif p_attribute.exclusive or jsonb_array_length(p_value) > 64 then
    raise exception 'attribute % is %, a list of % values', p_attribute.name, resource.shown(p_value),
      jsonb_array_length(p_value)
      using errcode = 'PB001',
            hint = case when p_attribute.exclusive then 'A resource has one value of it: give a text.'
                        else 'A list may have 64 values.' end;
  end if;
  return (select coalesce(jsonb_agg(distinct taskqueue.attribute_value(p_attribute, e)), '[]')
            from jsonb_array_elements(v_value) e);
end $$;

comment on function taskqueue.offered_value(taskqueue.attribute, jsonb) is
  'A value of a resource description as an offer has it (taskqueue.offer): texts as a list. Errors: PB001.';
