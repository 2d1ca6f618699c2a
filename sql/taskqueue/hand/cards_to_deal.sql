-- HANDS.md, When a hand is dealt: a hand that was used up is followed by a hand of twice its size. Inlined.
create or replace function taskqueue.cards_to_deal(p_drawn int) returns int
language sql immutable as $$
  select least(greatest(2 * p_drawn, 16), 64)
$$;

comment on function taskqueue.cards_to_deal(int) is
  'Number of cards to draw for the next hand, if p_drawn were drawn for the last one.';
