-- MATCHING.md, Condition Clauses: one comparison of bits for all clauses. It is null if a clause is not among those
-- that the offer knows (CLAUSES.md, Numbers); taskqueue.meets_clauses then tests them one by one. Inlined.
create or replace function taskqueue.accepts_clauses(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select case
    when (p_definition).clauses = '' then true
    when length((p_definition).clauses) <= length((p_offer).clauses_known) then
      case when (p_definition).clauses & substring((p_offer).clauses_held, 1, length((p_definition).clauses))
                = (p_definition).clauses then true
           when (p_definition).clauses & substring((p_offer).clauses_known, 1, length((p_definition).clauses))
                = (p_definition).clauses then false end
  end
$$;

comment on function taskqueue.accepts_clauses(taskqueue.definition, taskqueue.offer) is
  'Condition Clauses: every clause of the TaskQueue holds for the resource; null if the offer does not know a clause.';
