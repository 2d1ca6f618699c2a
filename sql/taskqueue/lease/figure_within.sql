-- Inlined.
create or replace function taskqueue.figure_within(p_value jsonb, p_most numeric) returns numeric
language sql immutable as $$
  select case when jsonb_typeof(p_value) = 'number' and p_value::numeric between 0 and p_most then p_value::numeric end
$$;

comment on function taskqueue.figure_within(jsonb, numeric) is
  'A JSON number from 0 to p_most; null for any other value.';
