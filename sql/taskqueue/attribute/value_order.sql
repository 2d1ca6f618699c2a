-- CLAUSES.md, Attributes. Versions are compared part by part, so they are arrays; a number is an array of one element.
-- 2.30 and 2.3 are equal JSON numbers, and different versions. So a version is a text. For the same reason zeros at the
-- end of a JSON number do not count for its length: equal JSON has one meaning, and known JSON is found by equality.
create or replace function taskqueue.value_order(p_type text, p_value jsonb) returns numeric[]
language sql immutable parallel safe as $$
  select case
    when jsonb_typeof(p_value) = 'number' then
      case when p_type = 'number' and abs(p_value::numeric) <= 1e300
                and octet_length(trim_scale(p_value::numeric)::text) <= 400
           then array[trim_scale(p_value::numeric)] end
    when jsonb_typeof(p_value) <> 'string' or octet_length(p_value #>> '{}') > 400 then null
    when p_type = 'number' then
      case when p_value #>> '{}' ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]{1,3})?$'
                and abs((p_value #>> '{}')::numeric) <= 1e300
           then array[trim_scale((p_value #>> '{}')::numeric)] end
    when p_value #>> '{}' ~ '^[0-9]{1,18}' then
      string_to_array(regexp_replace(substring(p_value #>> '{}' from '^[0-9]+(?:[.][0-9]+)*'),
                                     '(?:(?:^|[.])0+)+$', ''), '.')::numeric[]
    end
$$;

comment on function taskqueue.value_order(text, jsonb) is
  'The place of a number or version (p_type) in its order: arrays compare as the values do. The version 2.34-60.el9 is '
  '{2,34}, 8.0 is {8}, 0 is {}. Null if the value is not of the type; a JSON number is no version.';
