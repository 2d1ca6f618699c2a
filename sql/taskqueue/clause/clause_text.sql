-- CLAUSES.md, Clauses. Views call this, so every caller may, with any JSON.
create or replace function taskqueue.clause_text(p_clause jsonb) returns text
language sql immutable parallel safe as $$
  select string_agg(w.words, ' or ' order by w.block, w.name, w.place)
    from (select k.block, '', v.place, k.words || (v.value #>> '{}')
            from (values (1, '$.Tags[*]'::jsonpath, ''), (2, '$.NoTags[*]', 'not '), (3, '$.Sites[*]', 'site '))
                   k (block, path, words)
           cross join lateral jsonb_path_query(p_clause, k.path) with ordinality v(value, place)
          union all
          select 4, a.name, v.place, a.name || ' ' || case
                   when v.value is null then 'not offered'
                   when jsonb_typeof(v.value) <> 'object' then v.value #>> '{}'
                   when v.value = '{}' then 'offered'
                   when v.value -> 'min' = v.value -> 'max' then v.value ->> 'min'
                   when v.value ?& '{min,max}' then format('%s to %s', v.value ->> 'min', v.value ->> 'max')
                   else concat_ws(' and ', 'at least ' || (v.value ->> 'min'), 'above ' || (v.value ->> 'above'),
                                  'at most ' || (v.value ->> 'max'), 'below ' || (v.value ->> 'below')) end
            from jsonb_each(jsonb_path_query_first(p_clause, '$.Attributes ? (@.type() == "object")')) a(name, value)
            left join lateral jsonb_path_query(a.value, '$[*]') with ordinality v(value, place) on true
         ) w(block, name, place, words)
$$;

comment on function taskqueue.clause_text(jsonb) is
  'A clause in words, such as "os:el9 or not test or glibc at least 2.28".';
