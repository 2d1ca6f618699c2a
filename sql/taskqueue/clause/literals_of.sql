-- CLAUSES.md, Clauses: the parts of a clause as records. Nothing parses a text of a clause.
create or replace function taskqueue.literals_of(p_setup text, p_clause_id int, p_clause jsonb)
returns setof taskqueue.literal
language sql immutable rows 4 as $$
  select p_setup, p_clause_id, 'tag', t, null::numeric[], null::boolean, null::numeric[], null::boolean, null::text
    from jsonb_array_elements_text(p_clause -> 'Tags') t
  union all
  select p_setup, p_clause_id, 'no_tag', t, null, null, null, null, null
    from jsonb_array_elements_text(p_clause -> 'NoTags') t
  union all
  select p_setup, p_clause_id, 'site', t, null, null, null, null, null
    from jsonb_array_elements_text(p_clause -> 'Sites') t
  union all
  select p_setup, p_clause_id, case jsonb_typeof(v) when 'object' then 'range' else 'value' end, a.key,
         taskqueue.bound_of(coalesce(v -> 'min', v -> 'above')), v ? 'above',
         taskqueue.bound_of(coalesce(v -> 'max', v -> 'below')), v ? 'below',
         case when jsonb_typeof(v) <> 'object' then v #>> '{}' end
    from jsonb_each(p_clause -> 'Attributes') a
   cross join lateral jsonb_array_elements(a.value) v
  union all
  select p_setup, p_clause_id, 'absent', a.key, null, null, null, null, null
    from jsonb_each(p_clause -> 'Attributes') a where a.value = '[]'
$$;

comment on function taskqueue.literals_of(text, int, jsonb) is
  'The parts of a clause in its canonical form, as rows of taskqueue.literal with this setup and number.';
