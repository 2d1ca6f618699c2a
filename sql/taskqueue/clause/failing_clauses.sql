-- CLAUSES.md, Meaning: the test of clauses without numbers. If several sites are offered, a clause is tested for them
-- together, and taskqueue.site_for finds one site for all clauses.
create or replace function taskqueue.failing_clauses(p_clauses jsonb, p_offer taskqueue.offer, p_but_size boolean)
returns setof jsonb
language sql immutable as $$
  select c from jsonb_array_elements(p_clauses) c
   where not exists (select from taskqueue.literals_of('', 0, c) l
                      where taskqueue.literal_holds(l, p_offer, p_but_size))
$$;

comment on function taskqueue.failing_clauses(jsonb, taskqueue.offer, boolean) is
  'The clauses that do not hold for an offer; p_but_size as in taskqueue.literal_holds.';
