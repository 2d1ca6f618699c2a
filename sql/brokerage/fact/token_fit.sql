-- task-brokerage.md, nucleus-has-storage: an output token fits a storage by the storage's name, as a regular expression
-- found in the name, or by the type without ATLAS. A token that is no regular expression fits by name or type alone.
create or replace function brokerage.token_fit(p_token text, p_storage text, p_type text) returns int
language plpgsql immutable parallel safe as $$
begin
  if p_token = p_storage then
    return 1;
  end if;
  begin
    if p_storage ~ p_token then
      return 2;
    end if;
  exception when invalid_regular_expression then
    null;
  end;
  return case when replace(p_token, 'ATLAS', '') = p_type then 3 end;
end $$;

comment on function brokerage.token_fit(text, text, text) is
  'How well a storage fits an output token: 1 by its name, 2 by the token as a regular expression, 3 by its type; '
  'null = not at all.';
