create or replace function brokerage.fits(p_text text, p_anchored text) returns boolean
language sql stable parallel safe as $$
  select case when starts_with(p_anchored, '^(?:') then p_text ~ p_anchored else p_text = p_anchored end
$$;

comment on function brokerage.fits(text, text) is
  'Whether a whole text matches a pattern that brokerage.anchored made; null if one of them is null.';
