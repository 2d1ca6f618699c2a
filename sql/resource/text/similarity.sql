-- Pairs of neighbouring letters that two names share: enough to find what a misspelt name was meant to be.
create or replace function resource.similarity(p_name text, p_other text) returns float8
language sql immutable parallel safe
as $$
  select 2.0 * count(*) / (length(p_name) + length(p_other))
    from generate_series(1, length(p_name) - 1) i
   where position(substr(upper(p_name), i::int, 2) in upper(p_other)) > 0
$$;

comment on function resource.similarity(text, text) is
  'How like each other two names are, 0 to about 1: the pairs of neighbouring letters of the one that the other has.';
