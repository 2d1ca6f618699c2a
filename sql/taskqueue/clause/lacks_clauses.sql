create or replace function taskqueue.lacks_clauses(p_offer taskqueue.offer, p_all bit varying, p_version int)
returns boolean
language sql immutable as $$
  select coalesce((p_offer).clauses_known <> p_all, false) and cardinality((p_offer).sites) = 1 is not false
         and coalesce((p_offer).bounds = p_version, true)
$$;

comment on function taskqueue.lacks_clauses(taskqueue.offer, bit varying, int) is
  'Whether a numbered clause is new to a parsed offer and can be tested for it. p_all has the bits of all numbered '
  'clauses, and p_version is the version of the newest list of bounds. False for an offer of several sites, and for '
  'one that was rounded by an older list.';
