-- DRAWING.md, Rare matches: what a search over definitions compares before any condition. The hashes only narrow the
-- search down: the conditions decide.
create or replace function taskqueue.search_keys(p_setup text, p_sites text[], p_tags text[]) returns bigint[]
language sql immutable as $$
  select array_agg(distinct hashtextextended(concat_ws(E'\n', p_setup, s, t), 0))
    from unnest(p_sites) s cross join unnest(p_tags) t
$$;

comment on function taskqueue.search_keys(text, text[], text[]) is
  'A hash for each pair of a site and a tag, sorted. Site: * = none listed, empty = whatever is listed. Tag: empty = '
  'none required, * = whatever is required.';
