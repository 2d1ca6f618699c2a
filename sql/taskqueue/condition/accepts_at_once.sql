-- MATCHING.md, Conditions: these conditions decide for most candidates of a draw. If an offer meets all demands of a
-- definition (taskqueue.tests_of), no other condition has to be tested; preparing all conditions takes 25 us. A
-- definition in a posting list of the site lists that site or none, and has a CPU bucket that is covered. Inlined.
create or replace function taskqueue.accepts_at_once(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select coalesce((p_offer).sites[1], '') <> all ((p_definition).banned_sites)
     and taskqueue.accepts_owner(p_definition, p_offer)
     and taskqueue.accepts_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_platform(p_definition, p_offer)
     and taskqueue.accepts_tag(p_definition, p_offer)
     and taskqueue.accepts_clauses(p_definition, p_offer)
$$;

comment on function taskqueue.accepts_at_once(taskqueue.definition, taskqueue.offer) is
  'Whether a definition of a posting list matches an offer that meets all its demands: the site is not banned, and the '
  'conditions Owner, Platform, BannedPlatform, Tag and Clauses hold; null if that cannot be said at once.';
