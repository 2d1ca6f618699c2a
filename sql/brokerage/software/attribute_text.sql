create or replace function brokerage.attribute_text(p_attribute text, p_value text, p_list jsonb) returns text
language plpgsql stable as $$
declare
  v_names text := array_to_string(
    array(select e.name from jsonb_array_elements_text(p_list) e(name) where e.name <> 'excl'), ', ');
begin
  return case when p_value = '*'
              then format('only tasks that ask for %s are accepted',
                          coalesce('the ' || p_attribute || ' ' || nullif(v_names, ''), 'a ' || p_attribute))
              when p_list is null then format('%s %s is wanted, none is published', p_attribute, p_value)
              else format('%s %s is not among %s', p_attribute, p_value, v_names) end;
end $$;

comment on function brokerage.attribute_text(text, text, jsonb) is
  'Text of a reason: a published list does not contain the value of an attribute that a task asks for (* = none).';
