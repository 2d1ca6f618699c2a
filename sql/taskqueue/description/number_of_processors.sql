create or replace function taskqueue.number_of_processors(p_key text, p_value jsonb) returns int
language plpgsql immutable as $$
declare
  v_number numeric := taskqueue.one_number(p_key, p_value);
begin
  if v_number < 1 or v_number > 1024 or v_number <> trunc(v_number) then
    raise exception '% is %, which is not an integer within 1..1024', p_key, resource.shown(p_value)
      using errcode = 'PB001', hint = 'Give the number of processors.';
  end if;
  return v_number;
end $$;

comment on function taskqueue.number_of_processors(text, jsonb) is
  'The number of processors of a JSON value, 1 to 1024. Errors: PB001, naming the key.';
