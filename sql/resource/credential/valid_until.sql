create or replace function resource.valid_until(p_what text, p_valid interval) returns timestamptz
language plpgsql as $$
begin
  if p_valid is null or p_valid <= interval '0' or p_valid > interval '400 days' then
    raise exception '% is valid for %', p_what, coalesce(p_valid::text, 'null')
      using errcode = 'PB001', hint = 'Give more than nothing and at most 400 days.';
  end if;
  return now() + p_valid;
end $$;

comment on function resource.valid_until(text, interval) is
  'The time at which a token or secret of that validity ends. Errors: PB001 (validity).';
