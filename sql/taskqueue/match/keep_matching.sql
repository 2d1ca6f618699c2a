-- This transaction may make more definitions, so it counts as in flight. The table is unlogged, so that a call
-- without a match writes no WAL. A caller that finds the row locked leaves it: nobody waits.
create or replace function taskqueue.keep_matching(
  p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot
) returns void
language sql as $$
  update taskqueue.known_offer k
     set matching = case when cardinality(p_ids) <= 500 then p_ids end, matched_at = now(),
         known_to = pg_snapshot_xmax(p_snapshot),
         in_flight = array(select x from pg_snapshot_xip(p_snapshot) x) || pg_current_xact_id_if_assigned()
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource
                                and i.owner_group is not distinct from p_known.owner_group
                                and i.owner_dn is not distinct from p_known.owner_dn
                                for update skip locked))
$$;

comment on function taskqueue.keep_matching(text, taskqueue.known_offer, bigint[], pg_snapshot) is
  'Stores which definitions match a description, as of a snapshot; more than 500 are not stored.';
