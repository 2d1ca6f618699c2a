-- HANDS.md, When a hand is dealt: half of the cards remain for matches that come while the next cards are dealt. If no
-- job is left to deal, the last card ends the hand. Inlined.
create or replace function taskqueue.shall_deal(p_place int, p_cards int, p_rest bigint) returns boolean
language sql immutable as $$
  select case when p_rest > 0 then p_place * 2 >= p_cards else p_place = p_cards end
$$;

comment on function taskqueue.shall_deal(int, int, bigint) is
  'Whether a match that took the card at p_place of p_cards deals the next hand from the other p_rest jobs or, after '
  'the very last card, drops the TaskQueue; null if there was no card.';
