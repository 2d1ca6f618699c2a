-- ENDS.md, Facts of ends. Inlined.
create or replace function taskqueue.shown_error(p_error jsonb) returns text
language sql immutable as $$
  select string_agg(concat_ws(': ', concat_ws(' ', e.e ->> 'source', e.e ->> 'code'), e.e ->> 'text'), '; '
                    order by e.n)
    from jsonb_array_elements(case jsonb_typeof(p_error) when 'array' then p_error end) with ordinality e (e, n)
$$;

comment on function taskqueue.shown_error(jsonb) is
  'The errors of a run in one line: pilot 1305: the text; exe 1. Null if there are none.';
