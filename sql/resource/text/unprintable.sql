create or replace function resource.unprintable(p_text text) returns boolean
language sql immutable parallel safe as $$
  select p_text collate "C" ~ resource.unprintable_class()
$$;

comment on function resource.unprintable(text) is
  'Whether a text has a control or format character, such as a line end, an escape, a mark of direction, or a space '
  'without width. Names with such a character are refused; other texts are shown with escapes.';
