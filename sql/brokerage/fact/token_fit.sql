-- task-brokerage.md, nucleus-has-storage: an output token fits a storage by the storage's name, as a regular expression
-- found in the name, or by the type without ATLAS. A token that is not a regular expression, or that
-- resource.pattern_problem refuses, fits only by name or type. Most tokens are plain words, which are searched without
-- an expression.
create or replace function brokerage.token_fit(p_token text, p_storage text, p_type text) returns int
language plpgsql stable as $$
begin
  if p_token = p_storage then
    return 1;
  end if;
  if p_token !~ '[^A-Za-z0-9_-]' then
    if position(p_token in p_storage) > 0 then
      return 2;
    end if;
  elsif resource.pattern_problem(p_token) is null and p_storage ~ p_token then
    return 2;
  end if;
  return case when replace(p_token, 'ATLAS', '') = p_type then 3 end;
end $$;

comment on function brokerage.token_fit(text, text, text) is
  'How well a storage fits an output token: 1 by its name, 2 by the token as a regular expression, 3 by its type; null '
  'if it does not fit.';
