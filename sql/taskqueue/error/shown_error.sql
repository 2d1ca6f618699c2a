-- ENDS.md, Facts of ends.
create or replace function taskqueue.shown_error(p_error jsonb) returns text
language sql stable as $$
  select string_agg(concat_ws(': ', concat_ws(' ', e.e ->> 'source', e.e ->> 'code'), e.e ->> 'text')
                    || coalesce(' (' || m.meaning || ')', ''), '; ' order by e.n)
    from jsonb_array_elements(case jsonb_typeof(p_error) when 'array' then p_error end) with ordinality e (e, n)
   cross join lateral (
     select case when e.e ->> 'code' ~ '^-?[0-9]{1,10}$' then (e.e ->> 'code')::bigint end as code) c
    left join lateral (select s.meaning
                         from taskqueue.shipped_error_of(e.e ->> 'source', c.code, coalesce(e.e ->> 'text', '')) s
                        limit 1) m on true
$$;

comment on function taskqueue.shown_error(jsonb) is
  'The errors of a run in one line, with the meanings of shipped ones (taskqueue.shipped_error): pilot 1098: the text '
  '(the meaning); exe 1. Null if there are none.';
