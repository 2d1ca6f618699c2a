-- The value must be exactly one text.
create or replace function taskqueue.one_text(p_key text, p_value jsonb) returns text
language plpgsql immutable as $$
begin
  if jsonb_typeof(p_value) is distinct from 'string' or p_value = '""' then
    raise exception '% is %, which is not a text', p_key, coalesce(resource.shown(p_value), 'missing')
      using errcode = 'PB001', hint = format('Give %s one non-empty text.', p_key);
  end if;
  if octet_length(p_value #>> '{}') > 1000 then
    raise exception '% is a text of % bytes', p_key, octet_length(p_value #>> '{}')
      using errcode = 'PB001', hint = 'A text may have 1,000 bytes.';
  elsif resource.unprintable(p_value #>> '{}') then
    raise exception '% has a control or format character: %', p_key, resource.shown(p_value)
      using errcode = 'PB001', hint = 'A name has none: no line end, tab, escape, or character without width.';
  end if;
  return p_value #>> '{}';
end $$;

comment on function taskqueue.one_text(text, jsonb) is 'The text of a JSON value. Errors: PB001, naming the key.';
