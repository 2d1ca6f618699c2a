-- A name is kept in counts, decisions and the history, and is shown on pages. Some columns hold more than a name: lists
-- of words, expressions, names of files.
create or replace function resource.too_long(p_column text, p_value jsonb) returns int
language sql immutable parallel safe as $$
  select m.most
    from (select case when p_column = any ('{architecture,catchall,cpu_expression,criteria,description,lfn,lfns,'
                                           'ram_expression,reason,source}') then 10000
                      else 300 end as most) m
   where jsonb_typeof(p_value) = 'string' and octet_length(p_value #>> '{}') > m.most
      or jsonb_typeof(p_value) = 'array'
         and exists (select from jsonb_path_query(p_value, '$[*] ? (@.type() == "string")') e(name)
                      where octet_length(e.name #>> '{}') > m.most)
$$;

comment on function resource.too_long(text, jsonb) is
  'The most bytes of UTF-8 that a text, or a text of an array, may have in a column with this name, if the value has '
  'more; null otherwise.';
