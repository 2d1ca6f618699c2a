-- Names reach terminals, logs, mails and pages of other people. These characters have no use in a name, but they move
-- the cursor, turn the direction of text, or make two names look alike: controls, and characters without width.
create or replace function resource.unprintable_class() returns text
language sql immutable parallel safe as $$
  select
E'[[:cntrl:]\\u0080-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\U000e0001-\\U000e007f]'
$$;

comment on function resource.unprintable_class() is
  'Control and format characters, as a class of a regular expression in the collation C.';
