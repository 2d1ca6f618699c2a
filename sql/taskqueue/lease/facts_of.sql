-- ENDS.md, Facts of ends. The text of an error comes from a pilot: it is data of bounded size without control
-- characters.
create or replace function taskqueue.facts_of(p_given jsonb) returns taskqueue.run_facts
language sql immutable as $$
  select row(
    p_given ->> 'host',
    (select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
              'source', e.e ->> 'source', 'code', (e.e ->> 'code')::numeric::int,
              'text', nullif(regexp_replace(left(e.e ->> 'text', 200) collate "C", resource.unprintable_class(), ' ',
                                            'g'), ''))) order by e.n)
       from jsonb_array_elements(nullif(p_given -> 'error', 'null')) with ordinality e (e, n)),
    (p_given #>> '{used,cpu}')::real, (p_given #>> '{used,wall}')::real, (p_given #>> '{used,ram}')::real,
    (p_given #>> '{used,cores}')::numeric::smallint)::taskqueue.run_facts
$$;

comment on function taskqueue.facts_of(jsonb) is
  'The facts in {"host", "error", "used"} that have no fault (taskqueue.facts_fault). The texts of errors are cut at '
  '200 characters, and control characters in them become spaces.';
