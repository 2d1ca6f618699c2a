-- Sites write attributes of queues as text; a text that is no number counts as not set.
create or replace function resource.number_or_null(p_attributes jsonb, p_key text) returns float8
language sql immutable parallel safe as $$
  select case when p_attributes ->> p_key
                   ~ '^[[:space:]]*[-+]?([0-9]{1,15}([.][0-9]{0,15})?|[.][0-9]{1,15})[[:space:]]*$'
              then (p_attributes ->> p_key)::float8 end
$$;

comment on function resource.number_or_null(jsonb, text) is
  'A number among attributes; null where the key is absent or its value is not a number.';
