-- The size of an argument is found without reading the argument. A value from a table may be compressed (at best to a
-- hundredth), so its text is made and measured.
create or replace function taskqueue.json_size(p_value jsonb) returns bigint
language sql stable as $$
  select case when pg_column_compression(p_value) is null then pg_column_size(p_value)::bigint
              else octet_length(p_value::text)::bigint end
$$;

comment on function taskqueue.json_size(jsonb) is 'Bytes of a JSON value.';
