-- DRAWING.md, Rare matches: a definition is found by each of its sites together with its last tag. Tags of software
-- and data sort after those of processors, and are rarer.
create or replace function taskqueue.definition_keys(p_setup text, p_sites text[], p_tags text[]) returns bigint[]
language sql immutable as $$
  select taskqueue.search_keys(p_setup, case when p_sites = '{}' then '{*}' else p_sites end || ''::text,
                               array[coalesce(p_tags[cardinality(p_tags)], ''), '*'])
$$;

comment on function taskqueue.definition_keys(text, text[], text[]) is
  'taskqueue.definition.search_keys of a definition with these Sites and Tags.';
