-- CLAUSES.md, Values: the value is in its shortest form (taskqueue.attribute_value), so parts compare as values do.
create or replace function taskqueue.bound_of(p_value jsonb) returns numeric[]
language sql immutable as $$
  select case jsonb_typeof(p_value) when 'number' then array[p_value::numeric]
                                    else string_to_array(p_value #>> '{}', '.')::numeric[] end
$$;

comment on function taskqueue.bound_of(jsonb) is
  'A number, or a version in its shortest form, as an array that compares by value: the parts of the version.';
