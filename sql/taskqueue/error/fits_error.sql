-- ENDS.md, Classes of errors. Patterns are compared in collation C, so that the answer does not depend on the server.
-- Inlined.
create or replace function taskqueue.fits_error(
  p_source text, p_code_from int, p_code_to int, p_pattern text, p_of text, p_code bigint, p_text text
) returns boolean
language sql immutable as $$
  select case when p_source <> p_of then false
              when p_code_from is not null and p_code >= p_code_from is not true
                   or p_code_to is not null and p_code <= p_code_to is not true then false
              else p_text collate "C" ~ p_pattern is not false end
$$;

comment on function taskqueue.fits_error(text, int, int, text, text, bigint, text) is
  'Whether an error with the source p_of, a code (null if it has none) and a text fits a source, bounds of the code '
  'and a pattern; a null fits everything.';
