-- An entry of an index, which has a setup and some names, has at most 2,704 bytes. Longer texts are refused at input,
-- and so are characters that act on the terminals and pages on which names are shown.
create or replace function resource.require_short(p_key text, p_text text, p_most int default 1000) returns void
language plpgsql immutable as $$
begin
  if octet_length(p_text) > p_most then
    raise exception '% is a text of % bytes: %...', p_key, octet_length(p_text), left(p_text, 40)
      using errcode = 'PB001', hint = format('The text may have at most %s bytes.', p_most);
  elsif resource.unprintable(p_text) then
    raise exception '% has a control or format character: %', p_key, resource.shown(to_jsonb(p_text))
      using errcode = 'PB001', hint = 'A name has none: no line end, tab, escape, or character without width.';
  end if;
end $$;

comment on function resource.require_short(text, text, int) is
  'Refuses a text that is too long for a name, counted in bytes of UTF-8, or that has a control or format character '
  '(resource.unprintable). Errors: PB001, naming the key.';
