-- CLAUSES.md, Rounding: what matches a rounded description is the same for all its numbers only if the list by which it
-- was rounded has the bounds of all clauses.
create or replace function taskqueue.may_keep_matching(p_setup text, p_offer taskqueue.offer) returns boolean
language sql stable as $$
  select p_offer.bounds is null
         or not exists (select from taskqueue.clause c
                         where c.setup = p_setup and c.clause is not null and (c.version <= p_offer.bounds) is not true)
            and not exists (select from taskqueue.definition d where d.setup = p_setup and d.clauses is null)
$$;

comment on function taskqueue.may_keep_matching(text, taskqueue.offer) is
  'Whether the definitions that match an offer may be kept for all descriptions that the offer serves.';
