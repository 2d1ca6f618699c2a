-- MATCHING.md, Explanations: the clauses that fail, each with the values that the resource offers for its attributes.
-- Texts are compared exactly, and people overlook a capital letter.
create or replace function taskqueue.clauses_offered(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns text
language sql stable as $$
  select case when (p_definition).requirements ? 'Clauses' then coalesce(
           'fails ' || (
             select string_agg(taskqueue.clause_text(c) || coalesce(' (offers ' || v.offered || ')', ''), '; '
                               order by c::text collate "C")
               from taskqueue.failing_clauses((p_definition).requirements -> 'Clauses', p_offer, false) c
              cross join lateral (
                    select string_agg(a.name || case when (p_offer).attributes ? a.name
                                                     then ' ' || taskqueue.value_text((p_offer).attributes -> a.name)
                                                     else ': nothing' end
                                      || case when exists (
                                           select from jsonb_array_elements(a.wanted) w
                                            cross join jsonb_path_query((p_offer).attributes -> a.name, '$[*]') o
                                            where jsonb_typeof(w) = 'string' and w <> o
                                              and lower(w::text) = lower(o::text))
                                         then ' (differs only in case)' else '' end, ', ' order by a.name) as offered
                      from jsonb_each(c -> 'Attributes') a (name, wanted)) v),
           'all of them') end
$$;

comment on function taskqueue.clauses_offered(taskqueue.definition, taskqueue.offer) is
  'In words, the clauses of a definition that fail for an offer, with the values offered and whether a text differs '
  'only in case; null if it has no clauses.';
