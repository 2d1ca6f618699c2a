create or replace function resource.names_of_list(p_list text) returns text[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(btrim(n.name) order by n.number) filter (where btrim(n.name) <> ''), '{}'::text[])
    from unnest(string_to_array(p_list, ',')) with ordinality n(name, number)
$$;

comment on function resource.names_of_list(text) is
  'The names of a list separated by commas, as PanDA writes it, without the blanks around them; null = no list.';
