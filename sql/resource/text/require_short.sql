-- An entry of an index, which has a setup and some names, has at most 2,704 bytes. Longer texts are refused at input.
create or replace function resource.require_short(p_key text, p_text text, p_most int default 1000) returns void
language plpgsql immutable as $$
begin
  if octet_length(p_text) > p_most then
    raise exception '% is a text of % bytes: %...', p_key, octet_length(p_text), left(p_text, 40)
      using errcode = 'PB001', hint = format('The text may have at most %s bytes.', p_most);
  end if;
end $$;

comment on function resource.require_short(text, text, int) is
  'Refuses a text that is too long for a name, counted in bytes of UTF-8. Errors: PB001, naming the key.';
