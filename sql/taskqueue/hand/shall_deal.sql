-- HANDS.md, When a hand is dealt: half of the cards remain for the matches that come while the next ones are dealt.
-- Inlined.
create or replace function taskqueue.shall_deal(p_place int, p_cards int) returns boolean
language sql immutable as $$
  select p_place * 2 >= p_cards
$$;

comment on function taskqueue.shall_deal(int, int) is
  'Whether a match that took the card at p_place of p_cards deals the next ones; null where there was no card.';
