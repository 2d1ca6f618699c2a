create or replace function resource.nearest_name(p_name text, p_names text[]) returns text
language sql immutable parallel safe as $$
  select n.name
    from unnest(p_names) n(name)
   where resource.similarity(p_name, n.name) > 0.4
   order by resource.similarity(p_name, n.name) desc, n.name
   limit 1
$$;

comment on function resource.nearest_name(text, text[]) is
  'The known name that is most similar to a given one, for hints; null if no name is similar.';
