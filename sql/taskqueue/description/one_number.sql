-- The value must be one number that is not negative. JSON has no infinity and no NaN; a number that is too large for
-- double precision is refused.
create or replace function taskqueue.one_number(p_key text, p_value jsonb) returns numeric
language plpgsql immutable as $$
declare
  v_number numeric;
begin
  if jsonb_typeof(p_value) is distinct from 'number' then
    raise exception '% is %, which is not a number', p_key, coalesce(resource.shown(p_value), 'missing')
      using errcode = 'PB001', hint = format('Give %s a number, not negative.', p_key);
  end if;
  v_number := p_value::numeric;
  if v_number < 0 or v_number > 1e300 or (v_number > 0 and v_number < 1e-300) then
    raise exception '% is %, which is not within 0..1e300', p_key, resource.shown(p_value)
      using errcode = 'PB001', hint = format('Give %s a number, not negative and finite.', p_key);
  end if;
  return v_number;
end $$;

comment on function taskqueue.one_number(text, jsonb) is
  'The number of a JSON value, within 0..1e300. Errors: PB001, naming the key.';
