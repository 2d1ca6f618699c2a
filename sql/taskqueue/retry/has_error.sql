-- RETRIES.md: one error has source, code and text together.
create or replace function taskqueue.has_error(
  p_error jsonb, p_source text, p_code_from int, p_code_to int, p_pattern text
) returns boolean
language sql immutable as $$
  select exists (
    select from jsonb_array_elements(p_error) e
     where taskqueue.fits_error(p_source, p_code_from, p_code_to, p_pattern, e ->> 'source',
                                (e ->> 'code')::numeric::bigint, coalesce(e ->> 'text', '')))
$$;

comment on function taskqueue.has_error(jsonb, text, int, int, text) is
  'Whether an error of a list fits source, bounds of the code and pattern; a null fits everything.';
