-- A text that only matches itself stays as it is, so that brokerage.fits compares it without a regular expression.
create or replace function brokerage.anchored(p_pattern text) returns text
language sql immutable parallel safe as $$
  select case when p_pattern ~ '[^A-Za-z0-9_-]' then '^(?:' || p_pattern || ')$' else p_pattern end
$$;

comment on function brokerage.anchored(text) is
  'A regular expression that matches whole texts, for brokerage.fits; a text of only letters, digits, _ and - stays as '
  'it is.';
