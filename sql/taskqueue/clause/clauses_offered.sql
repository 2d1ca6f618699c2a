-- MATCHING.md, Explanations: the clauses that fail, each with the values that the resource offers for its attributes.
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
                                                     else ': nothing' end, ', ' order by a.name) as offered
                      from jsonb_object_keys(c -> 'Attributes') a (name)) v),
           'all of them') end
$$;

comment on function taskqueue.clauses_offered(taskqueue.definition, taskqueue.offer) is
  'In words, the clauses of a definition that fail for an offer, with the values offered; null if it has no clauses.';
