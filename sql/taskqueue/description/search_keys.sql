-- DRAWING.md, Rare matches: a search over definitions compares these hashes before any condition. They only narrow the
-- search down; the conditions decide.
create or replace function taskqueue.search_keys(p_setup text, p_sites text[], p_tags text[]) returns bigint[]
language sql immutable as $$
  select array_agg(distinct hashtextextended(concat_ws(E'\n', p_setup, s, t), 0))
    from unnest(p_sites) s cross join unnest(p_tags) t
$$;

comment on function taskqueue.search_keys(text, text[], text[]) is
  'A sorted list of hashes, one for each pair of a site and a tag. A site is * if none is listed, and empty for any '
  'list. A tag is empty if none is required, and * for any requirement.';
