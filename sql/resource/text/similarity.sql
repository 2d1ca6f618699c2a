-- Shared pairs of neighbouring letters are enough to find the name that a misspelt name stands for.
create or replace function resource.similarity(p_name text, p_other text) returns float8
language sql immutable parallel safe as $$
  select 2.0 * count(*) / (length(p_name) + length(p_other))
    from generate_series(1, length(p_name) - 1) i
   where position(substr(upper(p_name), i::int, 2) in upper(p_other)) > 0
$$;

comment on function resource.similarity(text, text) is
  'Similarity of two names, 0 to about 1: the pairs of neighbouring letters of the first that the second has.';
