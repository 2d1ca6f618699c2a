create or replace function resource.require_limit(p_key text, p_limit bigint) returns void
language plpgsql immutable as $$
begin
  if p_limit < 0 then
    raise exception '% is %, not 0 or more', p_key, p_limit
      using errcode = 'PB001', hint = 'Give the highest number, or null for the default.';
  end if;
end $$;

comment on function resource.require_limit(text, bigint) is
  'Refuses a limit below 0; null is allowed. Errors: PB001, naming the key.';
