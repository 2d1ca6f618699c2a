-- HANDS.md, When a hand is dealt: a hand that was used is followed by one of twice its size. Inlined.
create or replace function taskqueue.cards_to_deal(p_drawn int) returns int
language sql immutable as $$
  select least(greatest(2 * p_drawn, 16), 64)
$$;

comment on function taskqueue.cards_to_deal(int) is
  'Cards to draw for the hand that follows one for which p_drawn were drawn.';
