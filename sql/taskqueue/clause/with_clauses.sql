-- CLAUSES.md, Numbers, and CLAUSES.md, Rounding: one statement reads numbers and parts, so that a number is known only
-- if its parts were seen. A clause about sites has no single truth if several sites are offered. Nor has a clause with
-- a bound that is not in the list by which the offer was rounded.
create or replace function taskqueue.with_clauses(p_setup text, p_offer taskqueue.offer) returns taskqueue.offer
language plpgsql stable as $$
declare
  v_known bit varying := coalesce(p_offer.clauses_known, '');
  v_found record;
begin
  select array_agg(k.clause_id) as known, array_agg(k.clause_id) filter (where k.held) as held,
         greatest(max(k.clause_id), length(v_known)) as length
    into v_found
    from (select l.clause_id, bool_or(taskqueue.literal_holds(l, p_offer, false)) as held
            from taskqueue.literal l
            join taskqueue.clause c on c.setup = p_setup and c.clause_id = l.clause_id
           where l.setup = p_setup and (c.version <= p_offer.bounds or p_offer.bounds is null)
             and (l.clause_id > length(v_known) or get_bit(v_known, l.clause_id - 1) = 0)
           group by l.clause_id
          having not (cardinality(p_offer.sites) > 1 and bool_or(l.kind = 'site'))) k;
  p_offer.clauses_known := taskqueue.bits_of(v_found.known, v_found.length, v_known);
  p_offer.clauses_held := taskqueue.bits_of(v_found.held, v_found.length, coalesce(p_offer.clauses_held, ''));
  return p_offer;
end $$;

comment on function taskqueue.with_clauses(text, taskqueue.offer) is
  'The offer after a test of the clauses that it does not know yet. The caller has entered the setup '
  '(taskqueue.enter_setup) and uses the result there, since numbers may change afterwards.';
