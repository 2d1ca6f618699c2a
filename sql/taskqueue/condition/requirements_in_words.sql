create or replace function taskqueue.requirements_in_words(p_requirements jsonb) returns jsonb
language sql immutable as $$
  select p_requirements
         || jsonb_strip_nulls(jsonb_build_object('Clauses', taskqueue.clauses_text(p_requirements -> 'Clauses')))
$$;

comment on function taskqueue.requirements_in_words(jsonb) is
  'Requirements for people: Clauses are a text.';
