create or replace function resource.shown(p_value jsonb) returns text
language sql immutable parallel safe as $$
  select case when jsonb_typeof(p_value) = 'number' and length(p_value::text) > 20
              then regexp_replace(trim(to_char(p_value::numeric, '9.9999EEEE')), '[.]?0*e', 'e')
              when length(p_value::text) > 100
              then left(p_value::text, 96) || '...' || case jsonb_typeof(p_value) when 'string' then '"' else '' end
              else p_value::text end
$$;

comment on function resource.shown(jsonb) is
  'A JSON value as errors show it: at most a hundred characters, with long numbers as powers of ten.';
