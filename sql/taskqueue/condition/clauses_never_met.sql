create or replace function taskqueue.clauses_never_met(p_definition taskqueue.definition, p_offers taskqueue.offer[])
returns text
language sql stable as $$
  select taskqueue.clauses_text(jsonb_agg(c.clause order by c.place))
    from jsonb_array_elements((p_definition).requirements -> 'Clauses') with ordinality c (clause, place)
   where not exists (
         select from unnest(p_offers) o
          where not exists (select from taskqueue.failing_clauses(jsonb_build_array(c.clause), o, false)))
$$;

comment on function taskqueue.clauses_never_met(taskqueue.definition, taskqueue.offer[]) is
  'In words, the clauses of a definition that hold for none of the offers; null if each holds for one.';
