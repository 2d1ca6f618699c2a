-- Texts that are no interval, and numbers that do not fit an integer, are found by trying the conversion. Days are
-- stored as 24 hours each, since a day has 23 to 25 hours in the time zone of some sessions.
create or replace function resource.setting_value(p_type regtype, p_value jsonb) returns jsonb
language plpgsql stable as $$
declare
  v_kind text := jsonb_typeof(p_value);
begin
  return case
    -- Before PostgreSQL 17 make_interval accepts more seconds than an interval can hold.
    when p_type = 'interval'::regtype and v_kind = 'number' and abs(p_value::float8) < 1e12
    then to_jsonb(make_interval(secs => p_value::float8)::text)
    when p_type = 'interval'::regtype and v_kind = 'string'
    then (select to_jsonb((i - make_interval(days => extract(day from i)::int)
                           + extract(day from i)::int * interval '24 hours')::text)
            from (values ((p_value #>> '{}')::interval)) v (i) where isfinite(i))
    when p_type = 'text[]'::regtype and v_kind = 'null' then jsonb '[]'
    when p_type = 'text[]'::regtype and v_kind in ('string', 'array')
    then (select coalesce(jsonb_agg(distinct t.value), '[]')
            from jsonb_array_elements(case v_kind when 'array' then p_value else jsonb_build_array(p_value) end) t
          having coalesce(bool_and(resource.setting_value('text', t.value) is not null), true))
    when p_type = 'text'::regtype and v_kind = 'string' and length(p_value #>> '{}') between 1 and 1000 then p_value
    when p_type = 'boolean'::regtype and v_kind = 'boolean' then p_value
    when p_type = 'jsonb'::regtype and v_kind = 'object'
         and not exists (select from jsonb_each(p_value) e where jsonb_typeof(e.value) <> 'string') then p_value
    when p_type = 'float8'::regtype and v_kind = 'number' then to_jsonb(p_value::float8)
    when p_type = 'int'::regtype and v_kind = 'number' and resource.suits('an integer of 32 bits', p_value)
    then to_jsonb(p_value::int)
  end;
exception when data_exception then
  return null;
end $$;

comment on function resource.setting_value(regtype, jsonb) is
  'The JSON value that a setting of a type stores for a given value: an interval for a text or a number of seconds, a '
  'list for a single text. The result is null if the value is of another type. A list is sorted, without duplicates. '
  'The values of an object must be texts.';
