-- The number of shared pairs of neighbouring letters is enough to find the intended name of a misspelt one. The cost
-- grows with the product of the lengths (comparing 8,000 characters with 80 known keys took 20 s). Longer names than
-- 100 characters are therefore not compared; nobody types these by hand.
create or replace function resource.similarity(p_name text, p_other text) returns float8
language sql immutable parallel safe as $$
  select case when length(p_name) <= 100 and length(p_other) <= 100
              then (select 2.0 * count(*) / (length(p_name) + length(p_other))
                      from generate_series(1, length(p_name) - 1) i
                     where position(substr(upper(p_name), i::int, 2) in upper(p_other)) > 0)
              else 0 end
$$;

comment on function resource.similarity(text, text) is
  'Similarity of two names, 0 to about 1: twice the number of pairs of neighbouring letters of the first name that the '
  'second has, divided by the sum of both lengths. The result is 0 if a name has more than 100 characters.';
