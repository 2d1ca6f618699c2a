create or replace function brokerage.is_wait(p_value jsonb) returns boolean
language plpgsql stable as $$
begin
  return jsonb_typeof(p_value) = 'string' and (p_value #>> '{}')::interval > interval '0';
exception when data_exception then
  return false;
end $$;

comment on function brokerage.is_wait(jsonb) is
  'Whether a JSON value is a waiting time, that is, a text with an interval longer than 0.';
