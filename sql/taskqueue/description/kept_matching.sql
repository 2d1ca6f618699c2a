-- DRAWING.md, Rare matches: the general way, which draws over all CPU buckets, calls this.
create or replace function taskqueue.kept_matching(p_known_id bigint) returns bigint[]
language sql stable as $$
  select coalesce(array_agg(i.definition_id), '{}')
    from taskqueue.known_match m cross join lateral unnest(m.definition_ids) i (definition_id)
   where m.known_id = p_known_id
$$;

comment on function taskqueue.kept_matching(bigint) is 'The definitions that are kept for a description.';
