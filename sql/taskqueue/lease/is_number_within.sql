-- Inlined.
create or replace function taskqueue.is_number_within(
  p_value jsonb, p_least numeric, p_most numeric, p_is_integer boolean default false
) returns boolean
language sql immutable as $$
  select case when jsonb_typeof(p_value) = 'number'
              then p_value::numeric between p_least and p_most and (not p_is_integer or p_value::numeric % 1 = 0)
              else false end
$$;

comment on function taskqueue.is_number_within(jsonb, numeric, numeric, boolean) is
  'Whether a JSON value is a number within both limits, and an integer where one is asked for.';
