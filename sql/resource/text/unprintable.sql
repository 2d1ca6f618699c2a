-- Names reach terminals, logs, mails and pages of other people. These characters have no use in a name, but they move
-- the cursor, turn the direction of text, or make two names look alike: controls, and characters without width.
create or replace function resource.unprintable(p_text text) returns boolean
language sql immutable parallel safe as $$
  select p_text collate "C" ~
E'[[:cntrl:]\\u0080-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\U000e0001-\\U000e007f]'
$$;

comment on function resource.unprintable(text) is
  'Whether a text has a control or format character, such as a line end, an escape, a mark of direction, or a space '
  'without width. Names with such a character are refused; other texts are shown with escapes.';
